// Numbers as people read them, with their units; unknown is "–". Must not know languages: the
// units are the same in both.

export const UNKNOWN = '–';
const GIB = 2 ** 30;

type Maybe = number | null | undefined;

/** "61", "0.4": GiB without the unit, for pairs such as "61 / 80 GiB". */
export function gib(bytes: Maybe): string {
  if (bytes === null || bytes === undefined) return UNKNOWN;
  const value = bytes / GIB;
  return value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(1);
}

/** "61 GiB", "512 MiB", "–". */
export function bytes(value: Maybe): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (value >= GIB || value === 0) return `${gib(value)} GiB`;
  return `${Math.round(value / 2 ** 20)} MiB`;
}

/** "12 KiB", "3 MiB", "61 GiB": sizes of files. */
export function kib(value: number): string {
  return value >= 2 ** 20 ? bytes(value) : `${Math.ceil(value / 1024)} KiB`;
}

/** "97 %", "–". */
export function percent(value: Maybe): string {
  return value === null || value === undefined ? UNKNOWN : `${Math.round(value)} %`;
}

/** "61 °C", "–". */
export function celsius(value: Maybe): string {
  return value === null || value === undefined ? UNKNOWN : `${Math.round(value)} °C`;
}

/** "287 W", "–". */
export function watts(value: Maybe): string {
  return value === null || value === undefined ? UNKNOWN : `${Math.round(value)} W`;
}

/** GPU-hours: "0.4", "12", "1,240". */
export function hours(seconds: Maybe): string {
  if (seconds === null || seconds === undefined) return UNKNOWN;
  const value = seconds / 3600;
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(0) : value.toFixed(1);
}

/** kWh: "0.42", "12". */
export function kilowattHours(joules: Maybe): string {
  if (joules === null || joules === undefined) return UNKNOWN;
  const value = joules / 3.6e6;
  return value >= 10 ? value.toFixed(0) : value.toFixed(2);
}

const FACTORS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

/** Seconds of "90m", "4h", "1d 12h", "2:30:00", "1-12:00:00"; null for anything else. */
export function seconds(text: string): number | null {
  const clean = text.trim().toLowerCase();
  const clock = /^(?:(\d+)-)?(\d+):(\d{2})(?::(\d{2}))?$/.exec(clean);
  if (clock) {
    const [, days = '0', hour = '0', minute = '0', second = '0'] = clock;
    return Number(days) * 86400 + Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  }
  if (!/^(?:\d+(?:\.\d+)?\s*[smhdw]\s*)+$/.test(clean)) return null;
  let sum = 0;
  for (const [, amount, unit] of clean.matchAll(/(\d+(?:\.\d+)?)\s*([smhdw])/g)) {
    sum += Number(amount) * (FACTORS[unit ?? 's'] ?? 1);
  }
  return Math.round(sum);
}

/** Bytes of "40G", "512M", "40 GiB"; null for anything else. */
export function memory(text: string): number | null {
  const found = /^(\d+(?:\.\d+)?)\s*([kmgt])(?:i?b)?$/i.exec(text.trim());
  if (!found) return null;
  const power = 'kmgt'.indexOf((found[2] ?? 'g').toLowerCase()) + 1;
  return Math.round(Number(found[1]) * 1024 ** power);
}
