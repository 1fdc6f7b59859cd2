// At the foot of the calendar, always in sight: what is about to be changed, what was just done and the
// way back, and why something cannot be moved.
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { post } from '../api/client';
import type { Booking } from '../api/types';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Row } from './bars';
import styles from './calendar.module.css';
import { MovePanel, usePlaceWords } from './MovePanel';
import { askedOf, placeOf } from './shift';
import type { Move } from './useGrab';

/** `before`: of a booking that was changed, how it was; of one that was made, null. `count`: of a series. */
export interface Done { after: Booking; before: Booking | null; count?: number }

export function Tray({ rows, move, leave, done, setDone, note }: {
  rows: readonly Row[]; move: Move | null; leave: () => void; done: Done | null; setDone: (done: Done | null) => void; note: string;
}) {
  const { t } = useWords();
  const said = usePlaceWords(rows);
  const going = move && !move.asked ? t(move.keys ? 'move.keys' : 'move.going', { place: said(move.place) }) : '';
  const asked = move?.asked ? move : null;
  return (
    <div className={styles.tray}>
      <div role="status" className={styles.note} hidden={!going && !note}>{going || note}</div>
      <div role="status" className={styles.made} hidden={!done || asked !== null}>
        {done && !asked && <WayBack done={done} rows={rows} forget={() => setDone(null)} />}
      </div>
      {asked && <MovePanel key={`${asked.one.booking} ${asked.place.start} ${asked.place.end} ${asked.place.gpus.join()}`} move={asked} rows={rows} leave={leave}
        done={(before, after) => setDone({ before, after })} />}
    </div>
  );
}

export function WayBack({ done: { after, before, count = 1 }, rows, forget }: { done: Done; rows: readonly Row[]; forget: () => void }) {
  const { t } = useWords();
  const said = usePlaceWords(rows);
  const cache = useQueryClient();
  const undo = useMutation({
    mutationFn: () => before
      ? post<Booking>(`v1/bookings/${after.booking}/change`, askedOf(placeOf(after), placeOf(before), after.gpu_memory_bytes !== null))
      : post<Booking>(`v1/bookings/${after.booking}/cancel`, { series: count > 1 }),
    onSuccess: () => { forget(); return cache.invalidateQueries({ queryKey: ['bookings'] }); },
  });
  return (
    <>
      <span>
        {count > 1 ? t('rep.done', { booking: after.booking, count })
          : after.state === 'waiting' ? t('book.done_wait', { booking: after.booking })
          : t(before ? 'move.done' : 'book.done', { booking: after.booking, place: said(placeOf(after)) })}
      </span>
      {undo.error && <span className={ui.hand}>{undo.error.message}</span>}
      <Button size="compact-xs" variant="default" loading={undo.isPending} onClick={() => undo.mutate()}>{t('book.undo')}</Button>
      <Button size="compact-xs" variant="subtle" onClick={forget}>{t('do.close')}</Button>
    </>
  );
}
