// The time that the page shows as now: one clock for all, a tick every 15 seconds.
import { useSyncExternalStore } from 'react';

const TICK_MS = 15_000;
let current = new Date();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | null = null;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    current = new Date();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (!listeners.size && timer !== null) {
      clearInterval(timer);
      timer = null;
    }
  };
}

export const useNow = (): Date => useSyncExternalStore(subscribe, () => current);
