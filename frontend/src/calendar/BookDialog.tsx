// Booking by a form, prefilled by a drag: says what it will take before it does, what is free instead
// where there is no room, and the same as a command to learn from.
import { Button, Checkbox, Modal, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { post } from '../api/client';
import type { Booking, Job } from '../api/types';
import { useMe } from '../app/session';
import { duration } from '../lib/time';
import { bytes } from '../lib/units';
import queue from '../queue/queue.module.css';
import { Choice } from '../ui/Choice';
import { Command } from '../ui/Command';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Row } from './bars';
import type { Wish } from './CalendarView';
import styles from './calendar.module.css';
import { bodyOf, draftOf, typed, type Body, type Draft, type Series } from './draft';
import { HowMany, HowMuch, TimeFields, WhichGpus } from './Fields';
import { Refused, type Offer } from './Refused';
import { Dates, hasNoRoom, RepeatFields } from './Repeat';
import { ONCE, ruleOf, type Repetition } from './repeat';
import { placeOf } from './shift';
import { useTimes } from './times';
import { plusDays } from './zone';

/** GPUs that the server chooses, those that are chosen, or memory of a shared one. */
type Kind = 'any' | 'these' | 'share';
type Booked = { bookings: Booking[] };

const SETTLED_MS = 250;

/** What an answer of the daemon's would be, once the fields have come to rest. */
function useWould(body: Partial<Body> | null) {
  const [text] = useDebouncedValue(JSON.stringify(body), SETTLED_MS);
  return useQuery({
    queryKey: ['bookings', 'would', text],
    queryFn: () => post<Booked>('v1/bookings', { ...(JSON.parse(text) as Body), dry_run: true }),
    enabled: text !== 'null',
    placeholderData: (before) => before,
    retry: false,
  });
}

export function BookDialog({ wish, rows, jobs, close, done }: {
  wish: Wish; rows: readonly Row[]; jobs: readonly Job[]; close: () => void; done: (made: Booking, count: number) => void;
}) {
  const { t } = useWords();
  const me = useMe();
  const zone = me.timeZone;
  const cache = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => draftOf(wish.start, wish.end, wish.gpus, zone));
  const [repeated, setRepeated] = useState<Repetition>(ONCE);
  const [out, setOut] = useState<string[]>([]);
  const [skip, setSkip] = useState(false);
  const [which, setWhich] = useState<Kind>(wish.gpus.length > 0 ? 'these' : 'any');
  const these = which === 'these';
  const key = useRef(newKey());
  const book = useMutation({
    mutationFn: (given: Body) => post<Booked>('v1/bookings', given, { 'Idempotency-Key': key.current }),
    onSuccess: async (made) => {
      await cache.invalidateQueries({ queryKey: ['bookings'] });
      if (made.bookings[0]) done(made.bookings[0], made.bookings.length);
    },
  });
  // Whatever is asked otherwise is another booking.
  const anew = () => { key.current = newKey(); book.reset(); };
  const set = (part: Partial<Draft>) => { anew(); setDraft((before) => ({ ...before, ...part })); };
  const asked: Draft = { ...draft, chosen: these ? draft.chosen : [], memoryGib: which === 'share' ? draft.memoryGib : null };
  const rule = ruleOf(repeated);
  const series: Series | null = rule ? { rule, except: out, skip } : null;
  const body = bodyOf(asked, zone, series);
  const missing = !body ? t('book.times_bad') : these && !draft.chosen.length ? t('book.none_chosen')
    : which === 'share' && draft.memoryGib === null ? t('book.no_memory') : rule === null ? t('rep.no_end') : '';
  const would = useWould(missing ? null : body);
  // Every date that the rule makes, also those that are left out: the ones without room would wait.
  const all = useWould(missing || !series ? null : bodyOf({ ...asked, wait: true, purpose: '' }, zone, { rule: series.rule, except: [], skip: false }));
  const dates = series && !missing && !all.error ? all.data?.bookings : undefined;
  const without = (dates ?? []).filter(hasNoRoom).length;
  const error = missing ? null : book.error ?? would.error;
  const preview = missing || error ? undefined : would.data?.bookings;

  function repeat(value: Repetition) {
    anew();
    setOut([]);
    setRepeated(value.ends === 'until' && !value.until ? { ...value, until: plusDays(draft.fromDay, 28) } : value);
  }
  function send(event: FormEvent) {
    event.preventDefault();
    if (body && !missing) book.mutate(body);
  }
  function take(offer: Offer) {
    set(draftKept(draft, draftOf(Date.parse(offer.start), Date.parse(offer.end), offer.gpus, zone)));
    setWhich(asked.memoryGib === null ? 'these' : 'share');
  }
  const indices = rows.filter((row) => asked.chosen.includes(row.gpu.uuid)).map((row) => row.gpu.index);
  return (
    <Modal opened onClose={close} size="lg" title={<strong>{t('book.title')}</strong>} closeButtonProps={{ 'aria-label': t('do.close') }}>
      <form className={queue.form} onSubmit={send}>
        <TimeFields draft={draft} set={set} />
        <div className={styles.gpus}>
          <Choice label={t('word.gpu_word')} value={which} onChange={(value) => { anew(); setWhich(value); }}
            options={[{ value: 'any', label: t('book.any') }, { value: 'these', label: t('book.these') }, { value: 'share', label: t('book.share') }]} />
          {which === 'share' ? <HowMuch draft={draft} set={set} /> : these ? <WhichGpus draft={draft} set={set} rows={rows} /> : <HowMany draft={draft} set={set} most={rows.length} />}
        </div>
        <RepeatFields value={repeated} set={repeat} />
        {dates && <Dates dates={dates} out={out} set={(next) => { anew(); setOut(next); }} />}
        {series && without > 0 && !draft.wait && <Checkbox label={t('rep.skip')} checked={skip} onChange={(event) => { anew(); setSkip(event.currentTarget.checked); }} />}
        <TextInput label={t('book.purpose')} description={t('book.purpose_how')} maxLength={500} value={draft.purpose} onChange={(event) => set({ purpose: event.currentTarget.value })} />
        {(me.operator || me.lead) && (
          <TextInput label={t('book.user')} description={t(me.operator ? 'book.user_operator' : 'book.user_lead')} placeholder={me.user} value={draft.user} autoComplete="off" spellCheck={false}
            onChange={(event) => set({ user: event.currentTarget.value })} />
        )}
        <Checkbox label={t('book.public')} checked={draft.public} onChange={(event) => set({ public: event.currentTarget.checked })} />
        <Checkbox label={t('book.wait')} checked={draft.wait} onChange={(event) => set({ wait: event.currentTarget.checked })} />
        {me.operator && <Checkbox label={t('book.maintenance')} checked={draft.maintenance} onChange={(event) => set({ maintenance: event.currentTarget.checked })} />}
        {error && <Refused error={error} {...(series ? {} : { take })} />}
        <p className={ui.quiet}>{t('book.same')} <Command text={typed(asked, indices, series)} /></p>
        <div className={styles.foot}>
          <div aria-live="polite" className={styles.will}>
            {missing && <p className={ui.hand}>{missing}</p>}
            {error && <p className={ui.hand}>{t('book.not_so')}</p>}
            {preview?.[0] && (preview.length > 1 || series ? <WillAll all={preview} /> : <Will one={preview[0]} jobs={jobs} />)}
          </div>
          <div className={`${queue.buttons} ${styles.close}`}>
            <Button type="submit" loading={book.isPending} disabled={missing !== ''}>{t('book.do')}</Button>
            <Button variant="default" onClick={close}>{t('do.close')}</Button>
          </div>
        </div>
      </form>
    </Modal>
  );
}

const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

const draftKept = (before: Draft, other: Draft): Draft =>
  ({ ...other, purpose: before.purpose, public: before.public, maintenance: before.maintenance, user: before.user, memoryGib: before.memoryGib, wait: false });

function Will({ one, jobs }: { one: Booking; jobs: readonly Job[] }) {
  const { t, language } = useWords();
  const me = useMe();
  const times = useTimes();
  const { start, end } = placeOf(one);
  if (one.state === 'waiting') return <p>{t('book.will_wait')}</p>;
  const there = jobs.filter((job) => job.start_time && !job.end_time && job.user !== one.user && job.gpus.some((uuid) => one.gpus.includes(uuid))
    && (!job.latest_end || Date.parse(job.latest_end) > start));
  const said = { gpus: one.gpu_indices.join(', '), time: duration((end - start) / 1000, language), user: one.user, memory: bytes(one.gpu_memory_bytes), ...times.range(start, end) };
  return (
    <>
      <p>{t(one.gpu_memory_bytes !== null ? 'book.will_share' : one.maintenance ? 'book.will_maintain' : one.user === me.user ? 'book.will' : 'book.will_for', said)}</p>
      {there.map((job) => (
        <p key={job.job} className={ui.quiet}>
          {t('book.job_then', { job: job.job, user: job.user, index: job.gpu_indices.filter((index) => one.gpu_indices.includes(index)).join(', ') })}
        </p>
      ))}
    </>
  );
}

/** A series as a whole: how many times, the first and the last. */
function WillAll({ all }: { all: readonly Booking[] }) {
  const { t } = useWords();
  const times = useTimes();
  const said = (one: Booking | undefined) => (one ? times.range(placeOf(one).start, placeOf(one).end).start : '–');
  const waiting = all.filter(hasNoRoom).length;
  return (
    <p>
      {t('rep.will', { count: all.length, user: all[0]?.user ?? '', first: said(all[0]), last: said(all.at(-1)) })}
      {waiting > 0 && ` ${t('rep.will_wait', { count: waiting })}`}
    </p>
  );
}
