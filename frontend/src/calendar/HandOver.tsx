// A booking given to somebody else, exchanged for another one, or given up: each says first what it does.
import { Alert, Button, Checkbox, NativeSelect, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { get, post, query } from '../api/client';
import type { Booking } from '../api/types';
import { useMe } from '../app/session';
import queue from '../queue/queue.module.css';
import { Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Row } from './bars';
import styles from './calendar.module.css';
import { usePlaceWords } from './MovePanel';
import { placeOf } from './shift';
import { useTimes } from './times';

/** The question is read out, and the next Tab is at its answers; no key that is still down answers it. */
const focused = (element: HTMLElement | null): void => element?.focus();

const DAYS_MS = 60 * 86_400_000;

/** Live bookings from now on: `['bookings', …]`, so asked again when they change. */
export function useComing(enabled = true) {
  return useQuery({
    queryKey: ['bookings', 'coming'],
    queryFn: () => get<{ bookings: Booking[] }>(query('v1/bookings', {
      from: new Date().toISOString(), to: new Date(Date.now() + DAYS_MS).toISOString(),
    })),
    enabled,
  });
}

function Ask({ title, will, act, disabled = false, red = false, busy, error, go, leave, children }: {
  title: string; will: ReactNode; act: string; disabled?: boolean; red?: boolean; busy: boolean; error: Error | null;
  go: () => void; leave: () => void; children?: ReactNode;
}) {
  const { t } = useWords();
  function send(event: FormEvent) {
    event.preventDefault();
    if (!disabled && !busy) go();
  }
  return (
    <form className={`${queue.form} ${styles.ask}`} tabIndex={-1} ref={focused} aria-label={title} onSubmit={send}>
      {children}
      <div aria-live="polite" className={styles.will}>{will}</div>
      {error && <Alert color="red" role="alert">{error.message}</Alert>}
      <div className={queue.buttons}>
        <Button type="submit" {...(red ? { color: 'red' } : {})} loading={busy} disabled={disabled}>{act}</Button>
        <Button variant="default" onClick={leave}>{t('do.back')}</Button>
      </div>
    </form>
  );
}

interface Part { one: Booking; rows: readonly Row[]; leave: () => void; done: (words: string) => void }

function useAct<T>(path: string, done: (answer: T) => void) {
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (body: unknown) => post<T>(path, body),
    onSuccess: async (answer) => { await cache.invalidateQueries({ queryKey: ['bookings'] }); done(answer); },
  });
}

export function Give({ one, rows, leave, done }: Part) {
  const { t } = useWords();
  const me = useMe();
  const said = usePlaceWords(rows);
  const [to, setTo] = useState('');
  const people = [...new Set((useComing().data?.bookings ?? []).map((each) => each.user))].filter((user) => user !== one.user).sort();
  const act = useAct<Booking>(`v1/bookings/${one.booking}/give`, (given) => done(t('bk.given', { booking: given.booking, user: given.user })));
  const name = to.trim();
  return (
    <Ask title={t('bk.give')} act={t('bk.do_give')} disabled={!name || name === one.user} busy={act.isPending} error={act.error}
      go={() => act.mutate({ to: name })} leave={leave}
      will={name && name !== one.user ? <p>{t(one.user === me.user ? 'bk.will_give' : 'bk.will_give_other', { booking: one.booking, from: one.user, user: name, place: said(placeOf(one)) })}</p> : null}>
      <TextInput label={t('bk.give_to')} description={t('bk.give_how')} value={to} list="people-of-bookings" autoComplete="off" spellCheck={false}
        onChange={(event) => { act.reset(); setTo(event.currentTarget.value); }} />
      <datalist id="people-of-bookings">{people.map((user) => <option key={user} value={user} />)}</datalist>
    </Ask>
  );
}

interface Swapped { swapped: boolean; bookings: Booking[] }

export function Swap({ one, rows, leave, done }: Part) {
  const { t } = useWords();
  const said = usePlaceWords(rows);
  const found = useComing();
  const [picked, setChosen] = useState<string | null>(null);
  const others = (found.data?.bookings ?? []).filter((each) =>
    ['booked', 'waiting'].includes(each.state) && !each.maintenance && each.user !== one.user);
  // What is asked for, or was asked for before, is meant unless another is chosen.
  const open = others.find((each) => each.swap_with === one.booking || each.booking === one.swap_with);
  const chosen = picked ?? String(open?.booking ?? '');
  const other = others.find((each) => String(each.booking) === chosen);
  const act = useAct<Swapped>(`v1/bookings/${one.booking}/swap`, (answer) =>
    done(answer.swapped ? t('bk.swapped', { booking: one.booking, other: other?.booking ?? 0 }) : t('bk.swap_asked', { user: other?.user ?? '', other: other?.booking ?? 0 })));
  const words = (each: Booking) => t('bk.swap_which', { booking: each.booking, user: each.user, place: said(placeOf(each)) });
  const atOnce = other !== undefined && (other.may_change || other.swap_with === one.booking);
  if (found.isPending) return <Loading />;
  return (
    <Ask title={t('bk.swap')} act={t(atOnce || !other ? 'bk.do_swap' : 'bk.do_ask')} disabled={!other} busy={act.isPending} error={act.error}
      go={() => act.mutate({ with: other?.booking })} leave={leave}
      will={other ? <p>{t(atOnce ? 'bk.will_swap' : 'bk.will_ask', {
        booking: one.booking, user: one.user, place: said(placeOf(one)), other: other.booking, whose: other.user, there: said(placeOf(other)),
      })}</p> : others.length ? null : <p className={ui.quiet}>{t('bk.swap_none')}</p>}>
      {others.length > 0 && (
        <NativeSelect label={t('bk.swap_with')} value={chosen} onChange={(event) => { act.reset(); setChosen(event.currentTarget.value); }}
          data={[{ value: '', label: t('bk.swap_choose') }, ...others.map((each) => ({ value: String(each.booking), label: words(each) }))]} />
      )}
    </Ask>
  );
}

interface Closed extends Booking { closed: number[] }

export function GiveUp({ one, leave, done, begun }: Part & { begun: boolean }) {
  const { t } = useWords();
  const times = useTimes();
  const coming = useComing(one.series !== null);
  const [all, setAll] = useState(false);
  const after = (coming.data?.bookings ?? []).filter((each) =>
    each.series === one.series && ['booked', 'waiting'].includes(each.state) && placeOf(each).start > placeOf(one).start);
  const act = useAct<Closed>(`v1/bookings/${one.booking}/cancel`, (closed) =>
    done(closed.closed.length > 1 ? t('bk.closed_many', { count: closed.closed.length }) : t(begun ? 'bk.ended' : 'bk.cancelled', { booking: one.booking })));
  const { start, end } = placeOf(one);
  const said = { booking: one.booking, user: one.user, gpus: one.gpu_indices.join(', ') || '–', ...times.range(start, end) };
  const shown = after.slice(0, 5).map((each) => times.range(placeOf(each).start, placeOf(each).end).start).join(', ');
  return (
    <Ask title={t(begun ? 'bk.end' : 'bk.cancel')} red act={all ? t('bk.do_cancel_all') : t(begun ? 'bk.do_end' : 'bk.do_cancel')} busy={act.isPending} error={act.error}
      go={() => act.mutate({ series: all })} leave={leave}
      will={(
        <>
          <p>{one.state === 'waiting' ? t('bk.will_unwait', said) : t(begun ? 'bk.will_end' : 'bk.will_cancel', said)}</p>
          {all && <p>{t('bk.will_cancel_all', { count: after.length })} {shown}{after.length > 5 && ' …'}</p>}
        </>
      )}>
      {after.length > 0 && <Checkbox label={t('bk.all', { count: after.length })} checked={all} onChange={(event) => setAll(event.currentTarget.checked)} />}
    </Ask>
  );
}
