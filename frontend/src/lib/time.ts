// Times as people read them, in the rules' time zone (not the browser's: the whole team reads the same
// clock). Durations are short; whoever wants it exact hovers.
import type { Language } from '../text';

const LOCALES: Readonly<Record<Language, string>> = { en: 'en-GB', zh: 'zh-CN' };
const formats = new Map<string, Intl.DateTimeFormat>();

function format(language: Language, zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language} ${zone} ${JSON.stringify(options)}`;
  let made = formats.get(key);
  if (!made) {
    try {
      made = new Intl.DateTimeFormat(LOCALES[language], { ...options, timeZone: zone });
    } catch {
      // A browser that does not know the rules' zone shows UTC, as the daemon itself does.
      made = new Intl.DateTimeFormat(LOCALES[language], { ...options, timeZone: 'UTC' });
    }
    formats.set(key, made);
  }
  return made;
}

const HOUR: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/** "2026-12-02" of an instant in that zone. */
export function dayOf(at: Date, zone: string): string {
  const parts = format('en', zone, { year: 'numeric', month: '2-digit', day: '2-digit' }).formatToParts(at);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  return `${part('year')}-${part('month')}-${part('day')}`;
}

/** The hour today; with the weekday within six days; else with the date. */
export function clock(at: Date, now: Date, zone: string, language: Language): string {
  const hour = format(language, zone, HOUR).format(at);
  if (dayOf(at, zone) === dayOf(now, zone)) return hour;
  const near = Math.abs(at.getTime() - now.getTime()) < 6 * 86_400_000;
  const day = near
    ? format(language, zone, { weekday: 'short' })
    : format(language, zone, { month: 'short', day: 'numeric' });
  return `${day.format(at)} ${hour}`;
}

/** Everything there is to say about an instant, for a tooltip. */
export function exact(at: Date, zone: string, language: Language): string {
  return `${format(language, zone, {
    ...HOUR, second: '2-digit', weekday: 'short', year: 'numeric', month: 'short', day: 'numeric',
  }).format(at)} (${zone})`;
}

/** Weekday 0–6 (Monday first) and hour 0–23 of an instant in that zone. */
export function weekHour(at: Date, zone: string): { day: number; hour: number } {
  const parts = format('en', zone, { weekday: 'short', hour: '2-digit', hourCycle: 'h23' }).formatToParts(at);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? '';
  return {
    day: ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'].indexOf(part('weekday')),
    hour: Number(part('hour')),
  };
}

/** "40 s", "12 min", "3 h 20 min", "2 d 4 h"; in Chinese "3 小时 20 分". */
export function duration(secondsGiven: number, language: Language): string {
  const total = Math.max(0, Math.round(secondsGiven));
  const unit =
    language === 'zh'
      ? { d: ' 天', h: ' 小时', m: ' 分', s: ' 秒' }
      : { d: ' d', h: ' h', m: ' min', s: ' s' };
  if (total < 60) return `${total}${unit.s}`;
  const minutes = Math.floor(total / 60);
  if (minutes < 60) return `${minutes}${unit.m}`;
  const wholeHours = Math.floor(minutes / 60);
  if (wholeHours < 48) return minutes % 60 ? `${wholeHours}${unit.h} ${minutes % 60}${unit.m}` : `${wholeHours}${unit.h}`;
  const days = Math.floor(wholeHours / 24);
  return wholeHours % 24 ? `${days}${unit.d} ${wholeHours % 24}${unit.h}` : `${days}${unit.d}`;
}
