// Days, hours and spans of the rules' time zone, whatever zone the browser is in: a day has 23 or 25
// hours where the clocks change. Instants are milliseconds since the epoch. Must not know bookings.

export type ViewName = 'day' | 'week' | 'month';
export interface Day { day: string; start: number; end: number }
export interface Span { start: number; end: number; days: Day[] }

export const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let made = formats.get(zone);
  if (!made) {
    const options = {
      year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23',
    } as const;
    try {
      made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone });
    } catch {
      made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
    }
    formats.set(zone, made);
  }
  return made;
}

/** What the clock on the wall shows, as if it were UTC. */
export function wall(at: number, zone: string): number {
  const part: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** When the clock on the wall shows that: of an hour that comes twice the first, of one that is
    skipped as much later as is skipped (as the daemon reads such a time). */
export function instant(shown: number, zone: string): number {
  const before = wall(shown - DAY, zone) - (shown - DAY);
  const after = wall(shown + DAY, zone) - (shown + DAY);
  const first = shown - before;
  if (wall(first, zone) === shown) return first;
  const second = shown - after;
  return wall(second, zone) === shown ? second : first;
}

/** "2026-12-24" of an instant. */
export const dayAt = (at: number, zone: string): string => new Date(wall(at, zone)).toISOString().slice(0, 10);
/** "09:30" of an instant. */
export const hourAt = (at: number, zone: string): string => new Date(wall(at, zone)).toISOString().slice(11, 16);

/** The instant of "2026-12-24" and "09:30"; null where one of them is none. */
export function instantOf(day: string, hour: string, zone: string): number | null {
  const shown = Date.parse(`${day}T${hour || '00:00'}:00Z`);
  return Number.isNaN(shown) ? null : instant(shown, zone);
}

export const plusDays = (day: string, count: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + count * DAY).toISOString().slice(0, 10);

const plusMonths = (day: string, count: number): string => {
  const at = new Date(`${day.slice(0, 7)}-01T00:00:00Z`);
  at.setUTCMonth(at.getUTCMonth() + count);
  return at.toISOString().slice(0, 10);
};

/** Whether it is a day of the calendar: "2026-02-30" is none. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && plusDays(text, 0) === text;

const oneDay = (day: string, zone: string): Day => ({
  day, start: instantOf(day, '00:00', zone) ?? 0, end: instantOf(plusDays(day, 1), '00:00', zone) ?? 0,
});

/** The day, its week from Monday, or its month: half open. */
export function spanOf(view: ViewName, day: string, zone: string): Span {
  let first = day;
  let count = 1;
  if (view === 'week') {
    first = plusDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7));
    count = 7;
  } else if (view === 'month') {
    first = `${day.slice(0, 7)}-01`;
    count = Math.round((Date.parse(plusMonths(first, 1)) - Date.parse(first)) / DAY);
  }
  const days = Array.from({ length: count }, (_, place) => oneDay(plusDays(first, place), zone));
  return { start: days[0]?.start ?? 0, end: days.at(-1)?.end ?? 0, days };
}

export const stepped = (view: ViewName, day: string, count: number): string =>
  view === 'month' ? plusMonths(day, count) : plusDays(day, view === 'week' ? 7 * count : count);

/** How finely a drag is taken: quarters of an hour, hours, days. */
export const STEP: Readonly<Record<ViewName, number>> = { day: HOUR / 4, week: HOUR, month: DAY };

/** The step of the wall's clock that an instant lies in, and where it ends. */
export function stepAt(at: number, view: ViewName, zone: string): { start: number; end: number } {
  if (view === 'month') {
    const { start, end } = oneDay(dayAt(at, zone), zone);
    return { start, end };
  }
  // Zones are off UTC by whole quarters; hours are counted on the wall.
  const past = wall(at, zone) % STEP[view];
  const start = Math.floor((at - past) / 1000) * 1000;
  return { start, end: start + STEP[view] };
}

/** Where the clock strikes, each `every` hours, within a day of 23, 24 or 25. */
export function hoursOf(day: Day, every: number, zone: string): number[] {
  const found: number[] = [];
  for (let at = day.start; at < day.end; at += HOUR / 2) {
    const shown = wall(at, zone) % DAY;
    if (shown % (every * HOUR) === 0) found.push(at);
  }
  return found;
}
