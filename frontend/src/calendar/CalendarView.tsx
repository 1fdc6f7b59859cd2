// Calendar: GPUs as rows, time across, now a line. Bookings, maintenance, jobs and free room in one
// picture; booking by a drag, by the keyboard, or by a form.
import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useBookings, useLive } from '../api/queries';
import type { Booking, Job } from '../api/types';
import { useMe } from '../app/session';
import { Choice } from '../ui/Choice';
import { useNow } from '../ui/now';
import { Person } from '../ui/Person';
import { Empty, Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import { Agenda } from './Agenda';
import { rowsOf, type Bar } from './bars';
import { BookDialog } from './BookDialog';
import { BookingDrawer, useBooking } from './BookingDrawer';
import styles from './calendar.module.css';
import type { Stays } from './shift';
import { useTimes } from './times';
import { Timeline } from './Timeline';
import { Tray, type Done } from './Tray';
import type { Move } from './useGrab';
import { dayAt, HOUR, isDay, instantOf, spanOf, stepAt, stepped, type ViewName } from './zone';

const NO_JOBS: readonly Job[] = [];
const NO_BOOKINGS: readonly Booking[] = [];
const VIEWS: readonly ViewName[] = ['day', 'week', 'month'];

export interface Wish { start: number; end: number; gpus: readonly string[] }

export default function CalendarView({ view: given, day: asked, booking }: { view?: string | undefined; day?: string | undefined; booking?: number }) {
  const { t } = useWords();
  const me = useMe();
  const now = useNow().getTime();
  const zone = me.timeZone;
  const [, go] = useLocation();
  const phone = useMediaQuery('(max-width: 720px)', undefined, { getInitialValueInEffect: false });
  const view = VIEWS.find((each) => each === given) ?? 'week';
  const today = dayAt(now, zone);
  // Behind a booking that is opened lies its own week.
  const opened = useBooking(booking, NO_BOOKINGS).data;
  const day = asked && isDay(asked) ? asked : opened?.start ? dayAt(Date.parse(opened.start), zone) : today;
  const span = useMemo(() => spanOf(view, day, zone), [view, day, zone]);
  const status = useLive('status');
  const jobs = useLive('jobs').data?.jobs ?? NO_JOBS;
  const found = useBookings(new Date(span.start).toISOString(), new Date(span.end).toISOString());
  const bookings = found.data?.bookings ?? NO_BOOKINGS;
  const gpus = status.data?.gpus;
  const rows = useMemo(
    () => rowsOf(gpus ?? [], bookings, jobs, span.start, span.end, now),
    [gpus, bookings, jobs, span, now],
  );
  const title = useTitle(view, day);
  const [wish, setWish] = useState<Wish | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const [move, put] = useState<Move | null>(null);
  const [note, setNote] = useState('');
  const [picture, setPicture] = useState(false);
  const setMove = useCallback((next: Move | null) => {
    setNote('');
    if (next) setDone(null);
    put(next);
  }, []);
  const stays = (why: Stays, bar: Bar) => setNote(t(why, { booking: bar.booking?.booking ?? 0, user: bar.user ?? t('word.nobody'), group: bar.booking?.group ?? '' }));
  // What is being moved is left where it is when other days are looked at.
  useEffect(() => { setMove(null); }, [view, day, setMove]);
  /** The keyboard goes on where it was. */
  const back = (number: number) => requestAnimationFrame(() => document.querySelector<HTMLElement>(`button[data-bar='b${number}']`)?.focus());
  if (status.isPending || found.isPending) return <Loading />;
  if (!status.data) return <Failed error={status.error} again={() => void status.refetch()} />;
  if (!found.data) return <Failed error={found.error} again={() => void found.refetch()} />;
  const show = (name: ViewName, of: string) => go(`/calendar/${name}/${of}`);
  const ask = (of: Wish) => { setMove(null); setWish(of); };
  // What is asked for without pointing at a place: the next hour, or the morning of what is in view.
  const next = Math.max(stepAt(now, 'week', zone).end, view === 'day' ? instantOf(day, '09:00', zone) ?? 0 : 0);
  return (
    <>
      <header className={ui.head}>
        <h1>{title}</h1>
        <span className={styles.walk}>
          <Button size="xs" variant="default" aria-label={t('cal.before')} title={t('cal.before')} onClick={() => show(view, stepped(view, day, -1))}>‹</Button>
          <Button size="xs" variant="default" onClick={() => show(view, today)}>{t('cal.today')}</Button>
          <Button size="xs" variant="default" aria-label={t('cal.after')} title={t('cal.after')} onClick={() => show(view, stepped(view, day, 1))}>›</Button>
        </span>
        <span className={ui.headEnd}>
          {phone && <Choice label={t('cal.drawn')} value={picture ? 'picture' : 'list'} onChange={(drawn) => { setMove(null); setPicture(drawn === 'picture'); }}
            options={[{ value: 'list', label: t('cal.list') }, { value: 'picture', label: t('cal.picture') }]} />}
          <Choice label={t('cal.view')} value={view} onChange={(name) => show(name, day)}
            options={VIEWS.map((name) => ({ value: name, label: t(`cal.${name}`) }))} />
          <Button size="xs" data-act="book" onClick={() => ask({ start: next, end: next + HOUR, gpus: [] })}>{t('cal.book')}</Button>
        </span>
      </header>
      {rows.length === 0 ? <Empty title={t('cal.nothing')} /> : phone && !picture
        ? <Agenda rows={rows} span={span} now={now} open={(number) => go(`/bookings/${number}`)} wish={ask} />
        : <Timeline rows={rows} span={span} view={view} now={now} wish={ask} showDay={(of) => show('day', of)} how="calendar-how"
            move={move} setMove={setMove} stays={stays}
            open={(bar) => go(bar.booking ? `/bookings/${bar.booking.booking}` : `/jobs/${bar.job?.job ?? ''}`)} />}
      <Waiting bookings={bookings} />
      <p className={styles.how}>
        {t('cal.zone', { zone })}
        {!phone ? <> · {t('cal.how')} <span id="calendar-how">{t('cal.how_move')}</span></>
          : picture && <> · <span id="calendar-how">{t('cal.how_touch')}</span></>}
      </p>
      <Tray rows={rows} move={move} note={note} done={done}
        leave={() => { const number = move?.one.booking ?? 0; setMove(null); back(number); }}
        setDone={(next) => { setMove(null); setDone(next); if (next) back(next.after.booking); }} />
      {wish && <BookDialog wish={wish} rows={rows} jobs={jobs} close={() => setWish(null)} done={(one, count) => { setWish(null); setDone({ after: one, before: null, count }); }} />}
      {booking !== undefined && <BookingDrawer number={booking} near={bookings} rows={rows} close={() => history.length > 1 ? history.back() : go('/calendar')} />}
    </>
  );
}

function useTitle(view: ViewName, day: string): string {
  const { language } = useWords();
  const at = new Date(`${day}T12:00:00Z`);
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', { ...options, timeZone: 'UTC' });
  if (view === 'month') return format({ month: 'long', year: 'numeric' }).format(at);
  if (view === 'day') return format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }).format(at);
  const days = spanOf('week', day, 'UTC').days;
  const first = new Date(`${days[0]?.day}T12:00:00Z`);
  const last = new Date(`${days[6]?.day}T12:00:00Z`);
  return format({ day: 'numeric', month: 'short', year: 'numeric' }).formatRange(first, last);
}

function Waiting({ bookings }: { bookings: readonly Booking[] }) {
  const { t } = useWords();
  const times = useTimes();
  const [, go] = useLocation();
  const waiting = bookings.filter((one) => one.state === 'waiting');
  if (!waiting.length) return null;
  return (
    <section className={ui.section}>
      <h2>{t('cal.waiting')}</h2>
      <ul className={styles.list}>
        {waiting.map((one) => (
          <li key={one.booking}>
            <button type="button" className={styles.item} onClick={() => go(`/bookings/${one.booking}`)}>
              <Person user={one.user} />
              <span>{times.between(Date.parse(one.start ?? ''), Date.parse(one.end ?? ''))}</span>
              <span>{t('cal.waits_gpus', { count: one.wanted })}</span>
              {one.purpose && <span className={ui.quiet}>{one.purpose}</span>}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
