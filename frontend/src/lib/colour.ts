// A person's one colour and initials: the same function as roost.core.colour, held equal by shared
// vectors (tests/data/colours.json). Must not know who else there is, nor what is being drawn.

export const PALETTE = [
  '#ffaf5f', '#af87ff', '#5f5fff', '#d700af', '#00ffd7', '#af875f',
  '#00afaf', '#0087d7', '#afd7ff', '#afafff', '#ffd700', '#ff8700',
] as const;

export const NOBODY = '#8a8a8a';

/** FNV-1a, 32 bits, over the name's UTF-8, folded; grey for an empty name. */
export function colourOf(name: string | null | undefined): string {
  if (!name) return NOBODY;
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) {
    value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  }
  return PALETTE[((value ^ (value >>> 16)) >>> 0) % PALETTE.length] ?? NOBODY;
}

const WIDE = /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** Two cells that stand for an account where its name has no room: "alice" AL, "li.wei" LW. */
export function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu);
  const first = words?.[0];
  const last = words?.at(-1);
  if (!words || !first || !last) return '--';
  const letter = String.fromCodePoint(first.codePointAt(0) ?? 45);
  if (WIDE.test(letter)) return letter;
  const digits = /\p{Nd}+$/u.exec(last)?.[0];
  let pair: string;
  if (words.length > 1 && !/^\p{N}/u.test(last)) pair = letter + String.fromCodePoint(last.codePointAt(0) ?? 45);
  else if (digits) pair = digits.length > 1 ? digits.slice(-2) : letter + digits;
  else pair = first.slice(0, 2);
  pair = pair.toUpperCase();
  return /^[\x00-\x7f]{2}$/.test(pair) ? pair : (pair.slice(0, 1) + '  ').slice(0, 2);
}
