// Intervals as the calendar says them, in the rules' zone.
import { useMe } from '../app/session';
import { clock } from '../lib/time';
import { useNow } from '../ui/now';
import { useWords } from '../ui/words';
import { dayAt, hourAt } from './zone';

export interface Times {
  /** Start and end for a sentence; the end without its day where it is the same one. */
  range: (start: number, end: number) => { start: string; end: string };
  /** Hours alone, for a line that says its day. */
  hours: (start: number, end: number) => string;
  between: (start: number, end: number) => string;
}

export function useTimes(): Times {
  const { timeZone: zone } = useMe();
  const { language } = useWords();
  const now = useNow();
  const range = (start: number, end: number) => ({
    start: clock(new Date(start), now, zone, language),
    end: dayAt(start, zone) === dayAt(end, zone) ? hourAt(end, zone) : clock(new Date(end), now, zone, language),
  });
  const hours = (start: number, end: number) =>
    `${hourAt(start, zone)} – ${dayAt(start, zone) === dayAt(end, zone) ? hourAt(end, zone) : clock(new Date(end), now, zone, language)}`;
  return { range, hours, between: (start, end) => { const said = range(start, end); return `${said.start} – ${said.end}`; } };
}
