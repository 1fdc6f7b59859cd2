// The live stream (v1/events): server-sent events into the query cache, so that every view reads the
// same status, holders and jobs. Reads with fetch, since EventSource can tell neither a language nor
// why it was refused. Tries again by itself, and tells whether it is connected.
import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { address, headers, refusal } from './client';
import type { Holder, Job, Status } from './types';

export interface Live {
  status: Status;
  who: { holders: Holder[]; time: string | null };
  jobs: { jobs: Job[] };
}
export const TOPICS = ['status', 'who', 'jobs'] as const;
export type Topic = (typeof TOPICS)[number];

export interface Connection {
  state: 'connecting' | 'open' | 'lost';
  lastAt: number | null;
}

let connection: Connection = { state: 'connecting', lastAt: null };
const listeners = new Set<() => void>();

function tell(next: Connection): void {
  if (next.state === connection.state && next.lastAt === connection.lastAt) return;
  connection = next;
  for (const listener of listeners) listener();
}

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => connection,
  );
}

/** Splits a stream's text into events; keeps what is not complete yet. */
export class EventParser {
  private rest = '';

  push(text: string): { topic: string; data: string }[] {
    const found: { topic: string; data: string }[] = [];
    this.rest += text;
    for (;;) {
      const end = this.rest.indexOf('\n\n');
      if (end < 0) return found;
      const block = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + 2);
      let topic = 'message';
      const data: string[] = [];
      for (const line of block.split('\n')) {
        if (line.startsWith('event:')) topic = line.slice(6).trim();
        else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
      }
      if (data.length) found.push({ topic, data: data.join('\n') });
    }
  }
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 20_000;
const SILENCE_MS = 45_000;

/** Follows the stream until the returned function is called. */
export function follow(cache: QueryClient, refused: (status: number) => void): () => void {
  const stop = new AbortController();
  let pause = FIRST_PAUSE_MS;

  async function once(): Promise<void> {
    const turn = new AbortController();
    const end = () => turn.abort();
    stop.signal.addEventListener('abort', end);
    let alarm = setTimeout(end, SILENCE_MS);
    try {
      const response = await fetch(address('v1/events'), {
        headers: headers(), credentials: 'same-origin', signal: turn.signal,
      });
      if (!response.ok || !response.body) throw await refusal(response);
      const parser = new EventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        clearTimeout(alarm);
        alarm = setTimeout(end, SILENCE_MS);
        pause = FIRST_PAUSE_MS;
        tell({ state: 'open', lastAt: Date.now() });
        for (const { topic, data } of parser.push(value)) {
          // Bookings are asked for by the span that is looked at: the stream says that they changed.
          if (topic === 'bookings') void cache.invalidateQueries({ queryKey: ['bookings'] });
          else cache.setQueryData(['live', topic], JSON.parse(data));
        }
      }
    } finally {
      clearTimeout(alarm);
      stop.signal.removeEventListener('abort', end);
    }
  }

  void (async () => {
    while (!stop.signal.aborted) {
      try {
        await once();
      } catch (error) {
        const status = (error as { status?: number }).status;
        if (status === 401 || status === 403) refused(status);
      }
      if (stop.signal.aborted) return;
      tell({ state: 'lost', lastAt: connection.lastAt });
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
  })();
  return () => stop.abort();
}
