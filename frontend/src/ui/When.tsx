// A time or a duration in the rules' zone; exact on hover.
import { useMe } from '../app/session';
import { clock, duration, exact } from '../lib/time';
import { UNKNOWN } from '../lib/units';
import { useNow } from './now';
import { useWords } from './words';

/** What just happened there must not read as "in 0 s" here. */
const CLOCKS_DIFFER_S = 5;

/** Writes instants as the clock of the rules' zone. */
export function useClock(): (iso: string | null | undefined) => string {
  const { timeZone } = useMe();
  const { language } = useWords();
  const now = useNow();
  return (iso) => (iso ? clock(new Date(iso), now, timeZone, language) : UNKNOWN);
}

export function When({ at, ago = false }: { at: string | null | undefined; ago?: boolean }) {
  const { timeZone } = useMe();
  const { t, language } = useWords();
  const now = useNow();
  if (!at) return <>{UNKNOWN}</>;
  const instant = new Date(at);
  const apart = (now.getTime() - instant.getTime()) / 1000;
  const passed = apart < 0 && apart > -CLOCKS_DIFFER_S ? 0 : apart;
  const said = !ago
    ? clock(instant, now, timeZone, language)
    : passed >= 0
      ? t('word.ago', { time: duration(passed, language) })
      : t('word.in', { time: duration(-passed, language) });
  return <time dateTime={at} title={exact(instant, timeZone, language)}>{said}</time>;
}
