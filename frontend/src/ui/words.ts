// Words, numbers and times as the reader wants them: one hook for all views.
import { useTranslation } from 'react-i18next';
import type { Code, Language } from '../text';

type Values = Readonly<Record<string, string | number>>;
/** Codes that count leave out "_one" and "_other"; i18next adds them. */
export type Said = Code extends infer C ? (C extends `${infer Base}_other` ? C | Base : C) : never;
export type Say = (code: Said, values?: Values) => string;

export function useWords(): { t: Say; language: Language } {
  const { t, i18n } = useTranslation();
  return { t: t as unknown as Say, language: i18n.language === 'zh' ? 'zh' : 'en' };
}
