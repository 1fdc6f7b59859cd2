// A booking opened: all there is to know of it, and what may become of it: changed, made longer, given
// away, exchanged, given up. Each is asked in its place below the facts, and says first what it does.
import { Button, Drawer } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { get, Problem } from '../api/client';
import type { Booking } from '../api/types';
import { useMe } from '../app/session';
import { duration } from '../lib/time';
import { bytes } from '../lib/units';
import queue from '../queue/queue.module.css';
import { Choice } from '../ui/Choice';
import { useNow } from '../ui/now';
import { Person } from '../ui/Person';
import { Empty, Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords, type Said } from '../ui/words';
import type { Row } from './bars';
import styles from './calendar.module.css';
import { ChangeForm } from './ChangeForm';
import { Give, GiveUp, Swap, useComing } from './HandOver';
import { MovePanel } from './MovePanel';
import { ruleRead } from './repeat';
import { placeOf } from './shift';
import { WayBack, type Done } from './Tray';

type Open = 'change' | 'longer' | 'give' | 'swap' | 'end' | null;

/** The booking from the daemon; until then from what is shown. */
export function useBooking(number: number | undefined, near: readonly Booking[]) {
  return useQuery({
    queryKey: ['bookings', 'one', number],
    queryFn: () => get<Booking>(`v1/bookings/${number}`),
    placeholderData: near.find((one) => one.booking === number),
    enabled: Number.isInteger(number),
    retry: false,
  });
}

export function BookingDrawer({ number, near, rows, close }: {
  number: number; near: readonly Booking[]; rows: readonly Row[]; close: () => void;
}) {
  const { t } = useWords();
  const found = useBooking(number, near);
  const none = !Number.isInteger(number) || (found.error instanceof Problem && [404, 422].includes(found.error.status));
  return (
    <Drawer opened onClose={close} position="right" size={480} closeButtonProps={{ 'aria-label': t('do.close') }}
      title={<strong>{t('bk.title', { booking: number })}</strong>}>
      {found.data ? <Body key={number} one={found.data} rows={rows} />
        : none ? <Empty title={t('bk.missing', { booking: number })} />
          : found.isPending ? <Loading /> : <Failed error={found.error} again={() => void found.refetch()} />}
    </Drawer>
  );
}

function Body({ one, rows }: { one: Booking; rows: readonly Row[] }) {
  const { t } = useWords();
  const now = useNow().getTime();
  const [open, setOpen] = useState<Open>(null);
  const [done, setDone] = useState<Done | null>(null);
  const [said, setSaid] = useState('');
  const { start, end } = placeOf(one);
  const live = (one.state === 'booked' || one.state === 'waiting') && end > now;
  const begun = one.state === 'booked' && start <= now;
  const ask = (what: Open) => { setDone(null); setSaid(''); setOpen(what); };
  const leave = () => setOpen(null);
  const changed = (before: Booking, after: Booking) => { setOpen(null); setDone({ before, after }); };
  const finished = (words: string) => { setOpen(null); setSaid(words); };
  const part = { one, rows, leave, done: finished };
  return (
    <>
      {one.maintenance ? <strong>{t('cal.maintenance')}</strong> : <Person user={one.user} />}{' '}
      <span className={queue.tag}>{t(live && begun ? 'bk.state.on' : `bk.state.${one.state}` as Said)}</span>
      <Facts one={one} />
      <div role="status">
        {done && <div className={styles.made}><WayBack done={done} rows={rows} forget={() => setDone(null)} /></div>}
        {said && <div className={styles.made}>{said}</div>}
      </div>
      {live && one.may_change && (
        <>
          {open === null && <Proposals one={one} take={() => ask('swap')} />}
          {open === null && (
            <div className={queue.buttons}>
              <Button size="xs" data-act="change" onClick={() => ask('change')}>{t('bk.change')}</Button>
              {one.state === 'booked' && <Button size="xs" variant="default" onClick={() => ask('longer')}>{t('bk.longer')}</Button>}
              {!one.maintenance && <Button size="xs" variant="default" onClick={() => ask('give')}>{t('bk.give')}</Button>}
              {!one.maintenance && <Button size="xs" variant="default" onClick={() => ask('swap')}>{t('bk.swap')}</Button>}
              <Button size="xs" color="red" variant="light" onClick={() => ask('end')}>{t(begun ? 'bk.end' : 'bk.cancel')}</Button>
            </div>
          )}
          {open === 'change' && <ChangeForm one={one} rows={rows} leave={leave} done={changed} />}
          {open === 'longer' && <Longer one={one} rows={rows} leave={leave} done={changed} />}
          {open === 'give' && <Give {...part} />}
          {open === 'swap' && <Swap {...part} />}
          {open === 'end' && <GiveUp {...part} begun={begun} />}
        </>
      )}
      {live && !one.may_change && <p className={ui.quiet}>{t(one.maintenance ? 'move.maintenance' : 'move.others', { booking: one.booking, user: one.user, group: one.group })}</p>}
    </>
  );
}

function Facts({ one }: { one: Booking }) {
  const { t, language } = useWords();
  const me = useMe();
  const [, go] = useLocation();
  const { start, end } = placeOf(one);
  const repeat = one.repeat ? ruleRead(one.repeat, me.timeZone) : null;
  const facts: [string, ReactNode][] = [
    [t('bk.from'), <When at={one.start} />],
    [t('bk.until'), <><When at={one.end} /> <span className={ui.quiet}>({duration((end - start) / 1000, language)})</span></>],
    [t('word.gpu_word'), one.gpu_indices.join(', ') || t('cal.waits_gpus', { count: one.wanted })],
  ];
  if (one.gpu_memory_bytes !== null) facts.push([t('word.memory'), bytes(one.gpu_memory_bytes)]);
  if (one.gpu_model) facts.push([t('bk.model'), one.gpu_model]);
  facts.push([t('book.purpose'), one.purpose === null ? t('bk.private')
    : one.purpose ? <>{one.purpose} {!one.public && <span className={ui.quiet}>({t('bk.not_public')})</span>}</> : '–']);
  if (!one.maintenance && one.group) facts.push([t('bk.group'), one.group]);
  if (one.repeat) {
    facts.push([t('bk.repeat'), (
      <>
        {repeat ? t(repeat.until ? `rep.until.${repeat.kind}` : `rep.said.${repeat.kind}`, { until: repeat.until ?? '' }) : <code className={ui.mono}>{one.repeat}</code>}
        {one.series !== null && one.series !== one.booking && <>{' '}<button type="button" className={ui.copy} onClick={() => go(`/bookings/${one.series ?? ''}`)}>{t('bk.first', { booking: one.series })}</button></>}
      </>
    )]);
  }
  facts.push([t('bk.made'), <><When at={one.made_time} />{one.made_by !== one.user && ` ${t('bk.made_by', { user: one.made_by })}`}</>]);
  if (one.used_time) facts.push([t('bk.used'), <When at={one.used_time} />]);
  if (one.closed_time) facts.push([t('bk.closed'), <When at={one.closed_time} />]);
  return (
    <dl className={queue.facts}>
      {facts.map(([name, value]) => <div key={name} className={styles.fact}><dt>{name}</dt><dd>{value}</dd></div>)}
    </dl>
  );
}

const LONGER = ['0.5', '1', '2', '4', '8'] as const;

/** Longer by some hours from its end: what that would be, and what stands in the way. */
function Longer({ one, rows, leave, done }: {
  one: Booking; rows: readonly Row[]; leave: () => void; done: (before: Booking, after: Booking) => void;
}) {
  const { t, language } = useWords();
  const [by, setBy] = useState<(typeof LONGER)[number]>('1');
  const place = placeOf(one);
  return (
    <div className={queue.form}>
      <Choice label={t('bk.longer')} value={by} onChange={setBy}
        options={LONGER.map((hours) => ({ value: hours, label: duration(Number(hours) * 3600, language) }))} />
      <MovePanel key={`${by} ${one.end ?? ''}`} rows={rows} leave={leave} done={done}
        move={{ one, row: '', grip: 'end', place: { ...place, end: place.end + Number(by) * 3_600_000 }, asked: true, keys: true }} />
    </div>
  );
}

/** A swap that was asked for: by this booking's owner, or by another's for this one. */
function Proposals({ one, take }: { one: Booking; take: () => void }) {
  const { t } = useWords();
  const coming = useComing().data?.bookings ?? [];
  const wanted = coming.find((each) => each.booking === one.swap_with);
  const offered = coming.find((each) => each.swap_with === one.booking && ['booked', 'waiting'].includes(each.state));
  if (!wanted && !offered) return null;
  return (
    <div className={styles.made}>
      {wanted && <span>{t('bk.swap_open', { other: wanted.booking, user: wanted.user })}</span>}
      {offered && <span>{t('bk.swap_offered', { other: offered.booking, user: offered.user })}</span>}
      {offered && <Button size="compact-xs" variant="default" onClick={take}>{t('bk.swap_see')}</Button>}
    </div>
  );
}
