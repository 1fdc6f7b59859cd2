// Draining a GPU, or all of them, and taking them up again: first what it does to whom, with a reason, then
// exactly that. The same on a GPU's drawer and in the list of drains.
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Link } from 'wouter';
import { get, post } from '../api/client';
import type { Drain, Drains } from '../api/types';
import { Failed, Loading } from '../ui/states';
import { useClock } from '../ui/When';
import { useWords } from '../ui/words';
import styles from './operate.module.css';

const FEW = 6;

export const useDrains = (): UseQueryResult<Drains> =>
  useQuery({ queryKey: ['drains'], queryFn: () => get<Drains>('v1/drains'), refetchInterval: 15_000 });

/** `gpus`: UUIDs; `index` of the one, null for all of a server. `drained`: they are to be used again. */
export function DrainForm({ gpus, index, drained, close }: {
  gpus: readonly string[];
  index: number | null;
  drained: boolean;
  close: () => void;
}) {
  const { t } = useWords();
  const cache = useQueryClient();
  const [reason, setReason] = useState('');
  const plan = useDrains();
  const act = useMutation({
    mutationFn: async () => {
      for (const uuid of gpus) await post(`v1/gpus/${uuid}/${drained ? 'undrain' : 'drain'}`, drained ? undefined : { reason: reason.trim() });
    },
    onSettled: () => cache.invalidateQueries({ queryKey: ['drains'] }),
    onSuccess: close,
  });
  const title = index === null
    ? (drained ? t('drain.form_use_all') : t('drain.form_all'))
    : (drained ? t('drain.form_use_gpu', { index }) : t('drain.form_gpu', { index }));
  function go(event: FormEvent) {
    event.preventDefault();
    act.mutate();
  }
  return (
    <form className={styles.form} onSubmit={go} aria-label={title} data-drain-form={index ?? 'all'}>
      <b>{title}</b>
      {plan.isPending && <Loading />}
      {plan.isError && !plan.data && <Failed error={plan.error} again={() => void plan.refetch()} />}
      {plan.data && (drained
        ? <p>{plan.data.jobs_waiting === 0 ? t('drain.will_use_none') : t('drain.will_use', { count: plan.data.jobs_waiting })}</p>
        : <Will plan={plan.data} rows={plan.data.gpus.filter((each) => gpus.includes(each.gpu_uuid))} server={index === null} />)}
      {!drained && (
        <TextInput size="xs" label={t('drain.reason')} description={t('drain.reason_how')} value={reason} maxLength={500}
          onChange={(event) => setReason(event.currentTarget.value)} autoComplete="off" data-autofocus />
      )}
      {act.error && <p className={styles.bad} role="alert">{act.error.message}</p>}
      <div className={styles.buttons}>
        <Button size="xs" type="submit" color={drained ? undefined : 'red'} loading={act.isPending} disabled={!plan.data}>
          {drained ? t('drain.do_use') : t('drain.do')}
        </Button>
        <Button size="xs" variant="default" onClick={close}>{t('do.back')}</Button>
      </div>
    </form>
  );
}

function Will({ plan, rows, server }: { plan: Drains; rows: readonly Drain[]; server: boolean }) {
  const { t } = useWords();
  const clock = useClock();
  const jobs = [...new Map(rows.flatMap((row) => row.jobs).map((job) => [job.job, job])).values()];
  const bookings = [...new Map(rows.flatMap((row) => row.bookings).map((one) => [one.booking, one])).values()];
  return (
    <>
      <p>{t('drain.will')}</p>
      {jobs.length === 0 ? <p>{t('drain.jobs_none')}</p> : (
        <div>
          {t('drain.jobs', { count: jobs.length })}
          <ul className={styles.plan}>{jobs.slice(0, FEW).map((job) => (
            <li key={job.job}>
              <Link href={`/jobs/${job.job}`}>{t('word.job', { job: job.job })}</Link>{' · '}{t('drain.job', { name: job.name, user: job.user })}{' · '}
              {job.latest_end ? t('drain.job_until', { time: clock(job.latest_end) }) : t('drain.job_open')}
            </li>
          ))}{jobs.length > FEW && <li>{t('card.more', { count: jobs.length - FEW })}</li>}</ul>
        </div>
      )}
      {server && plan.jobs_without_gpus > 0 && <p>{t('drain.no_gpu', { count: plan.jobs_without_gpus })}</p>}
      {bookings.length === 0 ? <p>{t('drain.bookings_none')}</p> : (
        <div>
          {t('drain.bookings', { count: bookings.length })}
          <ul className={styles.plan}>{bookings.slice(0, FEW).map((one) => {
            const times = { start: clock(one.start), end: clock(one.end) };
            return (
              <li key={one.booking}>
                <Link href={`/bookings/${one.booking}`}>{t('audit.booking', { id: one.booking })}</Link>{' '}
                {one.maintenance ? t('drain.maintenance', times) : t('drain.booking', { user: one.user, ...times })}
              </li>
            );
          })}{bookings.length > FEW && <li>{t('card.more', { count: bookings.length - FEW })}</li>}</ul>
        </div>
      )}
    </>
  );
}
