// Booking again and again: how often and until when, and the list of dates that this makes, each of which can
// be left out, with those marked that have no room.
import { Checkbox, NativeSelect, NumberInput, TextInput } from '@mantine/core';
import type { Booking } from '../api/types';
import { useMe } from '../app/session';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import styles from './calendar.module.css';
import type { Ends, Every, Repetition } from './repeat';
import { placeOf } from './shift';
import { useTimes } from './times';
import { DayName } from './Timeline';
import { dayAt } from './zone';

const EVERY: readonly Every[] = ['none', 'daily', 'weekdays', 'weekly'];
const ENDS: readonly Ends[] = ['count', 'until', 'open'];
const MOST_SHOWN = 100;

export function RepeatFields({ value, set }: { value: Repetition; set: (value: Repetition) => void }) {
  const { t } = useWords();
  return (
    <div className={styles.three}>
      <NativeSelect label={t('rep.every')} data-repeat value={value.every} data={EVERY.map((each) => ({ value: each, label: t(`rep.every.${each}`) }))}
        onChange={(event) => set({ ...value, every: event.currentTarget.value as Every })} />
      {value.every !== 'none' && (
        <NativeSelect label={t('rep.ends')} value={value.ends} data={ENDS.map((each) => ({ value: each, label: t(`rep.ends.${each}`) }))}
          onChange={(event) => set({ ...value, ends: event.currentTarget.value as Ends })} />
      )}
      {value.every !== 'none' && value.ends === 'count' && (
        <NumberInput label={t('rep.count')} min={1} max={1000} value={value.count} onChange={(count) => set({ ...value, count: Number(count) || 0 })} />
      )}
      {value.every !== 'none' && value.ends === 'until' && (
        <TextInput type="date" label={t('rep.until')} value={value.until} onChange={(event) => set({ ...value, until: event.currentTarget.value })} />
      )}
    </div>
  );
}

export const hasNoRoom = (one: Booking): boolean => one.state === 'waiting';

/** `out`: local dates that are left out. */
export function Dates({ dates, out, set }: { dates: readonly Booking[]; out: readonly string[]; set: (out: string[]) => void }) {
  const { t } = useWords();
  const { timeZone: zone } = useMe();
  const times = useTimes();
  const without = dates.filter(hasNoRoom).length;
  return (
    <fieldset className={styles.dates}>
      <legend>{t('rep.dates', { count: dates.length })}{without > 0 && <b className={ui.hand}>{t('rep.without', { count: without })}</b>}</legend>
      <ul tabIndex={0} aria-label={t('rep.dates', { count: dates.length })}>
        {dates.slice(0, MOST_SHOWN).map((one) => {
          const { start, end } = placeOf(one);
          const day = dayAt(start, zone);
          return (
            <li key={start} data-date={day} data-room={!hasNoRoom(one)}>
              <Checkbox checked={!out.includes(day)} onChange={(event) => set(event.currentTarget.checked ? out.filter((each) => each !== day) : [...out, day])}
                label={<><DayName day={day} /> {times.hours(start, end)}{' '}
                  {hasNoRoom(one) ? <b className={ui.hand}>{t('rep.no_room')}</b> : <span className={ui.quiet}>{t('word.gpu', { index: one.gpu_indices.join(', ') })}</span>}</>} />
            </li>
          );
        })}
      </ul>
      {dates.length > MOST_SHOWN && <p className={ui.quiet}>{t('move.more', { count: dates.length - MOST_SHOWN })}</p>}
    </fieldset>
  );
}
