// What letting go of a booking elsewhere would do, to whom, and whether there is room: nothing is changed
// before it is confirmed; what is free instead is one click away.
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { post } from '../api/client';
import type { Booking } from '../api/types';
import { useMe } from '../app/session';
import { duration } from '../lib/time';
import queue from '../queue/queue.module.css';
import { useNow } from '../ui/now';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Row } from './bars';
import styles from './calendar.module.css';
import { Refused, type Offer } from './Refused';
import { askedOf, placeOf, sameGpus, type Asked, type Place } from './shift';
import { useTimes } from './times';
import type { Move } from './useGrab';

/** The question is read out, and the next Tab is at its answers; no key that is still down answers it. */
const focused = (element: HTMLElement | null): void => element?.focus({ preventScroll: true });

export function usePlaceWords(rows: readonly Row[]): (place: Place) => string {
  const { t } = useWords();
  const times = useTimes();
  return (place) => t('book.offer', {
    gpus: rows.filter((row) => place.gpus.includes(row.gpu.uuid)).map((row) => row.gpu.index).join(', ') || '–',
    ...times.range(place.start, place.end),
  });
}

export function MovePanel({ move, rows, leave, done }: {
  move: Move; rows: readonly Row[]; leave: () => void; done: (before: Booking, after: Booking) => void;
}) {
  const { t, language } = useWords();
  const me = useMe();
  const cache = useQueryClient();
  const said = usePlaceWords(rows);
  const { one } = move;
  const before = placeOf(one);
  const share = one.gpu_memory_bytes !== null;
  const asked = askedOf(before, move.place, share);
  const path = `v1/bookings/${one.booking}/change`;
  const would = useQuery({
    queryKey: ['bookings', 'change', one.booking, asked],
    queryFn: () => post<Booking>(path, { ...asked, dry_run: true }),
    retry: false,
    gcTime: 0,
  });
  const change = useMutation({
    mutationFn: (given: Asked) => post<Booking>(path, given),
    onSuccess: async (after) => { await cache.invalidateQueries({ queryKey: ['bookings'] }); done(one, after); },
  });
  const take = (offer: Offer) =>
    change.mutate(askedOf(before, { start: Date.parse(offer.start), end: Date.parse(offer.end), gpus: offer.gpus }, share));
  // Of one that has begun the rest is asked for: what is offered of it makes it longer, on the same GPUs.
  const begun = before.start <= useNow().getTime();
  const fits = (offer: Offer): Offer | null => !begun ? offer
    : Date.parse(offer.start) === before.end && sameGpus(offer.gpus, before.gpus) ? { ...offer, start: one.start ?? '' } : null;
  const away = useRef(leave);
  useEffect(() => { away.current = leave; }, [leave]);
  useEffect(() => {
    const escape = (event: KeyboardEvent) => { if (event.key === 'Escape') away.current(); };
    window.addEventListener('keydown', escape);
    return () => window.removeEventListener('keydown', escape);
  }, []);
  const error = change.error ?? would.error;
  const after = would.data && !error ? placeOf(would.data) : null;
  return (
    <section className={styles.ask} tabIndex={-1} ref={focused} aria-label={t('move.title', { booking: one.booking })} data-move={one.booking}>
      {would.isPending && <p className={ui.quiet}>{t('move.asking')}</p>}
      {after && (
        <p>
          {t(one.maintenance ? 'move.will_maintenance' : 'move.will', {
            booking: one.booking, user: one.user, before: said(before), after: said(after), time: duration((after.end - after.start) / 1000, language),
          })}
          {one.user !== me.user && ` ${t('move.told', { user: one.user })}`}
        </p>
      )}
      {error && <Refused error={error} take={take} fits={fits} busy={change.isPending} />}
      <div className={queue.buttons}>
        {after && <Button size="xs" loading={change.isPending} onClick={() => change.mutate(asked)}>{t('move.do')}</Button>}
        <Button size="xs" variant="default" onClick={leave}>{t('do.back')}</Button>
      </div>
    </section>
  );
}
