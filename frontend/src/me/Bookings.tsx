// My bookings that are not over: when, which GPUs, and giving them back. Says before it does what it does.
import { Alert, Button, Modal } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { get, post, query } from '../api/client';
import type { Booking } from '../api/types';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useClock, When } from '../ui/When';
import { useNow } from '../ui/now';
import { useWords } from '../ui/words';
import styles from './me.module.css';

const LIVE = ['booked', 'waiting'];

export function Bookings({ user }: { user: string }) {
  const { t } = useWords();
  const clock = useClock();
  const now = useNow();
  const [asking, setAsking] = useState<Booking | null>(null);
  const found = useQuery({
    queryKey: ['bookings', 'of', user],
    queryFn: () => get<{ bookings: Booking[] }>(query('v1/bookings', { user })),
    refetchInterval: 15_000,
  });
  if (found.isPending) return <Loading />;
  const mine = (found.data?.bookings ?? []).filter((each) => LIVE.includes(each.state) && (!each.end || new Date(each.end) > now));
  return (
    <section className={`${ui.panel} ${ui.section}`}>
      <h2>{t('me.bookings')}</h2>
      {found.isError && !found.data && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.data && mine.length === 0 && <p className={ui.quiet}>{t('me.bookings_none')}</p>}
      <ul className={styles.rows}>
        {mine.map((each) => (
          <li key={each.booking} className={styles.row} data-booking={each.booking}>
            <span className={styles.rowText}>
              <When at={each.start} /> – <When at={each.end} />
              <small>
                {each.gpu_indices.length ? t('queue.on', { gpus: each.gpu_indices.join(', ') }) : t('queue.gpus', { count: each.wanted })}
                {each.state === 'waiting' && ` · ${t('me.waiting_list')}`}
                {each.purpose && ` · ${each.purpose}`}
              </small>
            </span>
            <Button size="compact-xs" variant="default" onClick={() => setAsking(each)}>{t(begun(each, now) ? 'me.give_back' : 'me.cancel')}</Button>
          </li>
        ))}
      </ul>
      {asking && <Ask booking={asking} close={() => setAsking(null)} text={t(begun(asking, now) ? 'me.will_give_back' : 'me.will_cancel', {
        gpus: asking.gpu_indices.join(', ') || '–', start: clock(asking.start), end: clock(asking.end) })}
        act={t(begun(asking, now) ? 'me.do_give_back' : 'me.do_cancel')} />}
    </section>
  );
}

const begun = (booking: Booking, now: Date): boolean => booking.start !== null && new Date(booking.start) <= now;

function Ask({ booking, text, act, close }: { booking: Booking; text: string; act: string; close: () => void }) {
  const { t } = useWords();
  const cache = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => post(`v1/bookings/${booking.booking}/cancel`),
    onSuccess: () => { close(); return cache.invalidateQueries({ queryKey: ['bookings'] }); },
  });
  return (
    <Modal opened onClose={close} title={<strong>{t('me.booking', { number: booking.booking })}</strong>} closeButtonProps={{ 'aria-label': t('do.close') }}>
      <p>{text}</p>
      {cancel.error && <Alert color="red" role="alert">{cancel.error.message}</Alert>}
      <div className={styles.buttons}>
        <Button color="red" loading={cancel.isPending} onClick={() => cancel.mutate()}>{act}</Button>
        <Button variant="default" onClick={close}>{t('do.back')}</Button>
      </div>
    </Modal>
  );
}
