// Changing a booking by a form: other times, GPUs, purpose. What it would be is asked for every change of
// a field, and said before anything is done.
import { Button, Checkbox, NumberInput, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { post } from '../api/client';
import type { Booking } from '../api/types';
import { useMe } from '../app/session';
import { bytes } from '../lib/units';
import queue from '../queue/queue.module.css';
import { Choice } from '../ui/Choice';
import { useNow } from '../ui/now';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import type { Row } from './bars';
import styles from './calendar.module.css';
import { changeOf, draftOfBooking, timesOf, type Change, type Draft, type Which } from './draft';
import { HowMany, TimeFields, WhichGpus } from './Fields';
import { usePlaceWords } from './MovePanel';
import { Refused, type Offer } from './Refused';
import { placeOf, sameGpus } from './shift';

export function ChangeForm({ one, rows, leave, done }: {
  one: Booking; rows: readonly Row[]; leave: () => void; done: (before: Booking, after: Booking) => void;
}) {
  const { t } = useWords();
  const { timeZone: zone } = useMe();
  const cache = useQueryClient();
  const begun = one.state === 'booked' && placeOf(one).start <= useNow().getTime();
  const [draft, setDraft] = useState<Draft>(() => draftOfBooking(one, zone));
  const [which, setWhich] = useState<Which>('keep');
  const set = (part: Partial<Draft>) => { act.reset(); setDraft((before) => ({ ...before, ...part })); };
  const share = one.gpu_memory_bytes !== null;
  const change = changeOf(one, draft, which, zone);
  const nothing = change !== null && Object.keys(change).length === 0;
  const missing = !timesOf(draft, zone) ? t('book.times_bad') : which === 'these' && !draft.chosen.length ? t('book.none_chosen') : '';
  const path = `v1/bookings/${one.booking}/change`;
  const [settled] = useDebouncedValue(JSON.stringify(change), 250);
  const would = useQuery({
    queryKey: ['bookings', 'change', one.booking, settled],
    queryFn: () => post<Booking>(path, { ...(JSON.parse(settled) as Change), dry_run: true }),
    enabled: change !== null && !nothing && !missing && settled !== 'null' && settled !== '{}',
    placeholderData: (before) => before,
    retry: false,
    gcTime: 0,
  });
  const act = useMutation({
    mutationFn: (given: Change) => post<Booking>(path, given),
    onSuccess: async (after) => { await cache.invalidateQueries({ queryKey: ['bookings'] }); done(one, after); },
  });
  const error = missing || nothing ? null : act.error ?? would.error;
  const after = missing || nothing || error || settled !== JSON.stringify(change) ? undefined : would.data;
  function take(offer: Offer) {
    set(draftOfBooking({ ...one, start: offer.start, end: offer.end, gpus: offer.gpus, purpose: draft.purpose, public: draft.public }, zone));
    if (!share) setWhich(sameGpus(offer.gpus, one.gpus) ? 'keep' : 'these');
  }
  function send(event: FormEvent) {
    event.preventDefault();
    if (change && after) act.mutate(change);
  }
  // Of one that has begun the rest is asked for: what is offered of it makes it longer, on the same GPUs.
  const fits = (offer: Offer): Offer | null => !begun ? offer
    : Date.parse(offer.start) === placeOf(one).end && sameGpus(offer.gpus, one.gpus) ? { ...offer, start: one.start ?? '' } : null;
  return (
    <form className={`${queue.form} ${styles.ask}`} onSubmit={send} aria-label={t('bk.change')} data-change={one.booking}>
      <TimeFields draft={draft} set={set} begun={begun} />
      {!begun && (
        <div className={styles.gpus}>
          {share
            ? <NumberInput label={t('bk.memory_gib')} min={1} w={140} value={draft.memoryGib ?? ''} onChange={(value) => set({ memoryGib: Number(value) || null })} />
            : <Choice label={t('word.gpu_word')} value={which} onChange={(value) => { act.reset(); setWhich(value); }}
                options={[{ value: 'keep', label: t('bk.keep') }, { value: 'any', label: t('bk.number') }, { value: 'these', label: t('book.these') }]} />}
          {which === 'these' && <WhichGpus draft={draft} set={set} rows={rows} />}
          {which === 'any' && <HowMany draft={draft} set={set} most={rows.length} />}
        </div>
      )}
      <TextInput label={t('book.purpose')} maxLength={500} value={draft.purpose} onChange={(event) => set({ purpose: event.currentTarget.value })} />
      <Checkbox label={t('book.public')} checked={draft.public} onChange={(event) => set({ public: event.currentTarget.checked })} />
      <div aria-live="polite" className={styles.will}>
        {missing && <p className={ui.hand}>{missing}</p>}
        {nothing && <p className={ui.quiet}>{t('bk.nothing')}</p>}
        {after && <Will before={one} after={after} rows={rows} />}
      </div>
      {error && <Refused error={error} take={take} fits={fits} />}
      <div className={queue.buttons}>
        <Button type="submit" loading={act.isPending} disabled={!after}>{t('move.do')}</Button>
        <Button variant="default" onClick={leave}>{t('do.back')}</Button>
      </div>
    </form>
  );
}

function Will({ before, after, rows }: { before: Booking; after: Booking; rows: readonly Row[] }) {
  const { t } = useWords();
  const me = useMe();
  const said = usePlaceWords(rows);
  const [from, to] = [placeOf(before), placeOf(after)];
  const moved = from.start !== to.start || from.end !== to.end || !sameGpus(from.gpus, to.gpus);
  return (
    <>
      {before.state === 'waiting' && after.state === 'booked'
        ? <p>{t('bk.will_room', { booking: before.booking, after: said(to) })}</p>
        : moved && <p>{t('bk.will_move', { before: said(from), after: said(to) })}</p>}
      {before.gpu_memory_bytes !== after.gpu_memory_bytes && <p>{t('bk.will_memory', { before: bytes(before.gpu_memory_bytes), after: bytes(after.gpu_memory_bytes) })}</p>}
      {before.purpose !== after.purpose && <p>{after.purpose ? t('bk.will_purpose', { purpose: after.purpose }) : t('bk.will_no_purpose')}</p>}
      {before.public !== after.public && <p>{t(after.public ? 'bk.will_public' : 'bk.will_private')}</p>}
      {moved && before.user !== me.user && <p>{t('move.told', { user: before.user })}</p>}
    </>
  );
}
