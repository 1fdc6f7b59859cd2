// Booking by a form, prefilled by a drag: says what it will take before it does, what is free instead
// where there is no room, and the same as a command to learn from.
import { Button, Checkbox, Modal, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type FormEvent } from 'react';
import { post } from '../api/client';
import type { Booking, Job } from '../api/types';
import { useMe } from '../app/session';
import { duration } from '../lib/time';
import queue from '../queue/queue.module.css';
import { Choice } from '../ui/Choice';
import { Command } from '../ui/Command';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Row } from './bars';
import type { Wish } from './CalendarView';
import styles from './calendar.module.css';
import { bodyOf, draftOf, typed, type Body, type Draft } from './draft';
import { HowMany, TimeFields, WhichGpus } from './Fields';
import { Refused, type Offer } from './Refused';
import { useTimes } from './times';

type Booked = { bookings: Booking[] };

export function BookDialog({ wish, rows, jobs, close, done }: {
  wish: Wish; rows: readonly Row[]; jobs: readonly Job[]; close: () => void; done: (made: Booking) => void;
}) {
  const { t } = useWords();
  const me = useMe();
  const zone = me.timeZone;
  const cache = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => draftOf(wish.start, wish.end, wish.gpus, zone));
  const [these, setThese] = useState(wish.gpus.length > 0);
  const key = useRef(newKey());
  const set = (part: Partial<Draft>) => { key.current = newKey(); setDraft((before) => ({ ...before, ...part })); };
  const asked: Draft = these ? draft : { ...draft, chosen: [] };
  const body = bodyOf(asked, zone);
  const missing = !body ? t('book.times_bad') : these && !draft.chosen.length ? t('book.none_chosen') : '';
  // Asked anew for every change: what it would be, without doing it.
  const would = useQuery({
    queryKey: ['bookings', 'would', body],
    queryFn: () => post<Booked>('v1/bookings', { ...body, dry_run: true }),
    enabled: body !== null && !missing,
    placeholderData: (before) => before,
    retry: false,
  });
  const book = useMutation({
    mutationFn: (given: Body) => post<Booked>('v1/bookings', given, { 'Idempotency-Key': key.current }),
    onSuccess: async (made) => {
      await cache.invalidateQueries({ queryKey: ['bookings'] });
      if (made.bookings[0]) done(made.bookings[0]);
    },
  });
  const error = missing ? null : book.error ?? would.error;
  const preview = missing || error ? undefined : would.data?.bookings[0];

  function send(event: FormEvent) {
    event.preventDefault();
    if (body && !missing) book.mutate(body);
  }
  function take(offer: Offer) {
    book.reset();
    set(draftKept(draft, draftOf(Date.parse(offer.start), Date.parse(offer.end), offer.gpus, zone)));
    setThese(true);
  }
  const indices = rows.filter((row) => asked.chosen.includes(row.gpu.uuid)).map((row) => row.gpu.index);
  return (
    <Modal opened onClose={close} size="lg" title={<strong>{t('book.title')}</strong>} closeButtonProps={{ 'aria-label': t('do.close') }}>
      <form className={queue.form} onSubmit={send}>
        <TimeFields draft={draft} set={set} />
        <div className={styles.gpus}>
          <Choice label={t('word.gpu_word')} value={these ? 'these' : 'any'} onChange={(value) => setThese(value === 'these')}
            options={[{ value: 'any', label: t('book.any') }, { value: 'these', label: t('book.these') }]} />
          {these ? <WhichGpus draft={draft} set={set} rows={rows} /> : <HowMany draft={draft} set={set} most={rows.length} />}
        </div>
        <TextInput label={t('book.purpose')} description={t('book.purpose_how')} maxLength={500} value={draft.purpose} onChange={(event) => set({ purpose: event.currentTarget.value })} />
        <Checkbox label={t('book.public')} checked={draft.public} onChange={(event) => set({ public: event.currentTarget.checked })} />
        <Checkbox label={t('book.wait')} checked={draft.wait} onChange={(event) => set({ wait: event.currentTarget.checked })} />
        {me.operator && <Checkbox label={t('book.maintenance')} checked={draft.maintenance} onChange={(event) => set({ maintenance: event.currentTarget.checked })} />}
        <div aria-live="polite" className={styles.will}>
          {missing && <p className={ui.hand}>{missing}</p>}
          {preview && <Will one={preview} jobs={jobs} />}
        </div>
        {error && <Refused error={error} take={take} />}
        <p className={ui.quiet}>{t('book.same')} <Command text={typed(asked, indices)} /></p>
        <div className={`${queue.buttons} ${styles.foot}`}>
          <Button type="submit" loading={book.isPending} disabled={missing !== ''}>{t('book.do')}</Button>
          <Button variant="default" onClick={close}>{t('do.close')}</Button>
        </div>
      </form>
    </Modal>
  );
}

const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

const draftKept = (before: Draft, other: Draft): Draft =>
  ({ ...other, purpose: before.purpose, public: before.public, maintenance: before.maintenance, wait: false });

function Will({ one, jobs }: { one: Booking; jobs: readonly Job[] }) {
  const { t, language } = useWords();
  const me = useMe();
  const times = useTimes();
  const [start, end] = [Date.parse(one.start ?? ''), Date.parse(one.end ?? '')];
  if (one.state === 'waiting') return <p>{t('book.will_wait')}</p>;
  const there = jobs.filter((job) => job.start_time && !job.end_time && job.user !== me.user && job.gpus.some((uuid) => one.gpus.includes(uuid))
    && (!job.latest_end || Date.parse(job.latest_end) > start));
  const said = { gpus: one.gpu_indices.join(', '), time: duration((end - start) / 1000, language), ...times.range(start, end) };
  return (
    <>
      <p>{t(one.maintenance ? 'book.will_maintain' : 'book.will', said)}</p>
      {there.map((job) => (
        <p key={job.job} className={ui.quiet}>
          {t('book.job_then', { job: job.job, user: job.user, index: job.gpu_indices.filter((index) => one.gpu_indices.includes(index)).join(', ') })}
        </p>
      ))}
    </>
  );
}
