// The names that the page uses for the API's shapes; made from its OpenAPI document (schema.d.ts).
import type { components } from './schema';

type Schemas = components['schemas'];
export type Status = Schemas['StatusOut'];
export type Gpu = Schemas['GpuOut'];
export type Holder = Schemas['HolderOut'];
export type Job = Schemas['JobOut'];
export type Output = Schemas['OutputOut'];
export type Booking = Schemas['BookingOut'];
export type Notifications = Schemas['NotificationsOut'];
export type Channel = Schemas['ChannelOut'];
export type Feed = Schemas['FeedOut'];
export type FeedMade = Schemas['FeedMadeOut'];
export type Why = Schemas['WhyOut'];
export type Submission = Partial<Schemas['SubmissionIn']>;
export type Submitted = Schemas['SubmittedOut'];
export type Recent = Schemas['RecentOut'];
export type FreePlan = Schemas['FreePlanOut'];
export type Team = Schemas['TeamOut'];
export type Rules = Schemas['RulesOut'];
export type RulesHistory = Schemas['RulesHistoryOut'];
export type RulesCheck = Schemas['RulesCheckOut'];
export type Audit = Schemas['AuditOut'];
export type Drains = Schemas['DrainsOut'];
export type Drain = Schemas['DrainOut'];
export type Users = Schemas['UsersOut'];
export type Health = Schemas['HealthOut'];
export type RulesVersion = Schemas['RulesVersionOut'];

export interface Session {
  user: string;
  uid: number;
  name: string;
  role: 'viewer' | 'member' | 'lead' | 'operator';
  csrf: string;
}


export interface Token {
  token: string;
  user: string;
  name: string;
  scopes: string[];
  used_time: string | null;
  expires_time: string;
}

export interface SignedIn {
  session: string;
  user: string;
  this: boolean;
  address: string;
  browser: string;
  seen_time: string;
}

export interface Ping {
  roost: string;
  server: string;
  user: string;
  uid: number;
  operator: boolean;
  role: 'viewer' | 'member' | 'lead' | 'operator';
  simulated: boolean;
  time_zone: string;
  groups: string[];
}

export interface UsageRow {
  hour: string;
  gpu_uuid: string;
  user: string | null;
  group: string | null;
  job: number | null;
  class: string | null;
  held_s: number;
  observed_s: number;
  busy_s: number;
  gb_s: number;
  joules: number;
}

export interface FreeItem {
  pid: number;
  start_ticks: number;
  user: string | null;
  command: string;
  memory_bytes: number | null;
  since: string | null;
  evidence: string;
  also_gpus: number[];
}
