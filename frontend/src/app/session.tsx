// Who is looking: the session of the browser (v1/session), or on a development proxy whoever the kernel
// says. Everything below SessionGate may rely on `useMe()`.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, type ReactNode } from 'react';
import { get, onSignedOut, Problem, useCsrf } from '../api/client';
import type { Ping, Session } from '../api/types';
import { Failed, Loading } from '../ui/states';
import { SignIn } from './SignIn';

export interface Me {
  user: string;
  uid: number;
  operator: boolean;
  /** Leads a group: may handle what is its members'. */
  lead: boolean;
  timeZone: string;
  server: string;
  roost: string;
  simulated: boolean;
  groups: string[];
  /** False where the kernel says who is calling: there is nothing to sign out of. */
  bySession: boolean;
}

const MeContext = createContext<Me | null>(null);

export function useMe(): Me {
  const me = useContext(MeContext);
  if (!me) throw new Error('useMe stands outside SessionGate');
  return me;
}

async function find(): Promise<Me | null> {
  let session: Session | null = null;
  try {
    session = await get<Session>('v1/session');
    useCsrf(session.csrf);
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return null;
    // 403, 404, 405: the daemon's own socket, where the kernel says who is calling.
    if (!(error instanceof Problem) || ![403, 404, 405].includes(error.status)) throw error;
  }
  const ping = await get<Ping>('v1/ping');
  return {
    user: ping.user,
    uid: ping.uid,
    operator: ping.operator,
    lead: ping.role === 'lead',
    timeZone: ping.time_zone,
    server: ping.server,
    roost: ping.roost,
    simulated: ping.simulated,
    groups: ping.groups,
    bySession: session !== null,
  };
}

export function SessionGate({ children }: { children: ReactNode }) {
  const cache = useQueryClient();
  const session = useQuery({
    queryKey: ['me'],
    queryFn: find,
    staleTime: Infinity,
    retry: (count, error) => count < 2 && error instanceof Problem && error.status === 0,
  });
  useEffect(() => onSignedOut(() => cache.setQueryData(['me'], null)), [cache]);
  if (session.isPending) return <Loading />;
  if (session.isError) return <Failed error={session.error} again={() => void session.refetch()} />;
  if (session.data === null) return <SignIn done={() => void cache.invalidateQueries({ queryKey: ['me'] })} />;
  return <MeContext.Provider value={session.data}>{children}</MeContext.Provider>;
}
