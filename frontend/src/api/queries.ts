// What views ask for, each by one hook: the live topics, and answers that are asked for once in a while.
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { get, query } from './client';
import type { Live, Topic } from './live';
import type { Booking, Job, Ping, Recent, UsageRow, Why } from './types';

/** A live topic: asked once so that something stands there at once, then fed by the stream. */
export function useLive<T extends Topic>(topic: T): UseQueryResult<Live[T]> {
  return useQuery<Live[T]>({
    queryKey: ['live', topic],
    queryFn: () => get<Live[T]>(`v1/${topic}`),
    staleTime: Infinity,
  });
}

export const usePing = (): UseQueryResult<Ping> =>
  useQuery({ queryKey: ['ping'], queryFn: () => get<Ping>('v1/ping'), staleTime: 60_000 });

export const useRecent = (gpu: string | null, points: number): UseQueryResult<Recent> =>
  useQuery({
    queryKey: ['recent', gpu, points],
    queryFn: () => get<Recent>(query('v1/recent', { gpu, points })),
    refetchInterval: 60_000,
  });

export const useJob = (job: number, enabled = true): UseQueryResult<Job> =>
  useQuery({ queryKey: ['job', job], queryFn: () => get<Job>(`v1/jobs/${job}`), enabled, refetchInterval: 5000 });

export const useWhy = (job: number, enabled: boolean): UseQueryResult<Why> =>
  useQuery({ queryKey: ['why', job], queryFn: () => get<Why>(`v1/jobs/${job}/why`), enabled, refetchInterval: 15_000 });

export interface UsageAnswer {
  usage: UsageRow[];
  gaps: { start: string; end: string; seconds: number }[];
}

export const useUsage = (from: string, user?: string): UseQueryResult<UsageAnswer> =>
  useQuery({
    queryKey: ['usage', from, user ?? null],
    queryFn: () => get<UsageAnswer>(query('v1/usage', { from, user })),
    staleTime: 60_000,
  });

export const useEnded = (user: string | null, limit: number): UseQueryResult<{ jobs: Job[] }> =>
  useQuery({
    queryKey: ['ended', user, limit],
    queryFn: () => get<{ jobs: Job[] }>(query('v1/jobs', { ended: 1, user, limit })),
    refetchInterval: 15_000,
  });

/** What lies in [from, to): instants as ISO 8601. Asked again whenever the stream says so. */
export const useBookings = (from: string, to: string): UseQueryResult<{ bookings: Booking[] }> =>
  useQuery({
    queryKey: ['bookings', from, to],
    queryFn: () => get<{ bookings: Booking[] }>(query('v1/bookings', { from, to })),
    placeholderData: (before) => before,
    refetchInterval: 60_000,
  });
