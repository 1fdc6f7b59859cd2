// Every sentence of the page, in English and Chinese. An area is a file of code: [English, Chinese];
// i18next picks by language, and counts ("_one" is English alone).
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { audit } from './audit';
import { calendar } from './calendar';
import { general } from './general';
import { me } from './me';
import { now } from './now';
import { operate } from './operate';
import { queue } from './queue';
import { team } from './team';

export const MESSAGES = { ...general, ...now, ...queue, ...calendar, ...me, ...team, ...operate, ...audit };
export type Code = keyof typeof MESSAGES;
export type Language = 'en' | 'zh';

function catalogue(place: 0 | 1): Record<string, string> {
  return Object.fromEntries(Object.entries(MESSAGES).map(([code, pair]) => [code, pair[place]]));
}

/** The language of <html lang>, which early.js set before anything was drawn. */
export function languageNow(): Language {
  return document.documentElement.lang.startsWith('zh') ? 'zh' : 'en';
}

export function startText(): void {
  void i18next.use(initReactI18next).init({
    lng: languageNow(),
    fallbackLng: 'en',
    resources: { en: { translation: catalogue(0) }, zh: { translation: catalogue(1) } },
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false }, // React escapes
    initAsync: false,
  });
}

export function speak(language: Language): void {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  try {
    localStorage.setItem('roost.language', language);
  } catch {
    // Storage is refused: the choice holds until the page is left.
  }
  void i18next.changeLanguage(language);
}
