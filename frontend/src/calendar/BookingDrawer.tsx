// A booking opened: whose, when, where, what for; and giving it up, which says first what it does.
import { Alert, Button, Drawer } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { get, post, query } from '../api/client';
import type { Booking } from '../api/types';
import { useMe } from '../app/session';
import queue from '../queue/queue.module.css';
import { useNow } from '../ui/now';
import { Person } from '../ui/Person';
import { Empty, Failed, Loading } from '../ui/states';
import { When } from '../ui/When';
import { useWords, type Said } from '../ui/words';
import styles from './calendar.module.css';
import { useTimes } from './times';

const NEAR_MS = 366 * 86_400_000;

/** The booking from what is shown, or from a year around now (a link to it). */
function useBooking(number: number, near: readonly Booking[]) {
  const shown = near.find((one) => one.booking === number);
  const found = useQuery({
    queryKey: ['bookings', 'near', number],
    queryFn: () => get<{ bookings: Booking[] }>(query('v1/bookings', {
      from: new Date(Date.now() - NEAR_MS).toISOString(), to: new Date(Date.now() + NEAR_MS).toISOString(),
    })),
    enabled: !shown,
  });
  return { found, booking: shown ?? found.data?.bookings.find((one) => one.booking === number) };
}

export function BookingDrawer({ number, near, close }: { number: number; near: readonly Booking[]; close: () => void }) {
  const { t } = useWords();
  const { found, booking } = useBooking(number, near);
  return (
    <Drawer opened onClose={close} position="right" size={460} closeButtonProps={{ 'aria-label': t('do.close') }}
      title={<strong>{t('bk.title', { booking: number })}</strong>}>
      {booking ? <Body one={booking} /> : found.isPending ? <Loading /> : found.isError
        ? <Failed error={found.error} again={() => void found.refetch()} />
        : <Empty title={t('bk.missing', { booking: number })} />}
    </Drawer>
  );
}

function Body({ one }: { one: Booking }) {
  const { t } = useWords();
  const me = useMe();
  const now = useNow().getTime();
  const live = (one.state === 'booked' || one.state === 'waiting') && Date.parse(one.end ?? '') > now;
  // Who is told a private purpose leads the group, and may handle it as the owner may.
  const may = me.operator || (!one.maintenance && (one.user === me.user || (one.purpose !== null && !one.public)));
  return (
    <>
      {one.maintenance ? <strong>{t('cal.maintenance')}</strong> : <Person user={one.user} />}{' '}
      <span className={queue.tag}>{t(`bk.state.${one.state}` as Said)}</span>
      <dl className={queue.facts}>
        <dt>{t('bk.from')}</dt><dd><When at={one.start} /></dd>
        <dt>{t('bk.until')}</dt><dd><When at={one.end} /></dd>
        <dt>{t('word.gpu_word')}</dt><dd>{one.gpu_indices.join(', ') || t('cal.waits_gpus', { count: one.wanted })}</dd>
        <dt>{t('book.purpose')}</dt><dd>{one.purpose === null ? t('bk.private') : one.purpose || '–'}</dd>
      </dl>
      {live && may && <GiveUp one={one} begun={one.state === 'booked' && Date.parse(one.start ?? '') <= now} />}
    </>
  );
}

/** The question is read out, and the next Tab is at its answers; no key that is still down answers it. */
const focused = (element: HTMLElement | null): void => element?.focus();

function GiveUp({ one, begun }: { one: Booking; begun: boolean }) {
  const { t } = useWords();
  const times = useTimes();
  const cache = useQueryClient();
  const [asking, setAsking] = useState(false);
  const act = useMutation({
    mutationFn: () => post<Booking>(`v1/bookings/${one.booking}/cancel`),
    onSuccess: () => { setAsking(false); return cache.invalidateQueries({ queryKey: ['bookings'] }); },
  });
  const said = {
    booking: one.booking, user: one.user, gpus: one.gpu_indices.join(', ') || '–',
    ...times.range(Date.parse(one.start ?? ''), Date.parse(one.end ?? '')),
  };
  return (
    <div className={queue.buttons}>
      {!asking && <Button size="xs" color="red" variant="light" onClick={() => setAsking(true)}>{t(begun ? 'bk.end' : 'bk.cancel')}</Button>}
      {asking && (
        <section className={styles.ask} tabIndex={-1} ref={focused} aria-label={t(begun ? 'bk.end' : 'bk.cancel')}>
          <p>{t(begun ? 'bk.will_end' : 'bk.will_cancel', said)}</p>
          {act.error && <Alert color="red" role="alert">{act.error.message}</Alert>}
          <div className={queue.buttons}>
            <Button color="red" loading={act.isPending} onClick={() => act.mutate()}>{t(begun ? 'bk.do_end' : 'bk.do_cancel')}</Button>
            <Button variant="default" onClick={() => setAsking(false)}>{t('do.back')}</Button>
          </div>
        </section>
      )}
    </div>
  );
}
