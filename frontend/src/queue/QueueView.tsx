// Queue: what runs, what waits and why, what has ended; a job opened; submitting one.
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useEnded, useLive } from '../api/queries';
import { useMe } from '../app/session';
import { Choice } from '../ui/Choice';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import { JobDrawer } from './JobDrawer';
import { JobList } from './JobList';
import { SubmitDialog } from './SubmitDialog';

const ENDED = 30;

export default function QueueView({ job }: { job?: number }) {
  const { t } = useWords();
  const me = useMe();
  const [whose, setWhose] = useState<'all' | 'mine'>('all');
  const [submitting, setSubmitting] = useState(false);
  const [, go] = useLocation();
  const live = useLive('jobs');
  const ended = useEnded(whose === 'mine' ? me.user : null, ENDED);
  if (live.isPending) return <Loading />;
  if (!live.data) return <Failed error={live.error} again={() => void live.refetch()} />;
  const jobs = live.data.jobs.filter((each) => whose === 'all' || each.user === me.user);
  return (
    <>
      <header className={ui.head}>
        <h1>{t('queue.title')}</h1>
        <span className={ui.headEnd}>
          <Choice label={t('queue.show')} value={whose} onChange={setWhose}
            options={[{ value: 'all', label: t('queue.everyone') }, { value: 'mine', label: t('queue.mine') }]} />
          <Button size="xs" onClick={() => setSubmitting(true)}>{t('queue.submit')}</Button>
        </span>
      </header>
      <section className={ui.section}>
        <h2>{t('queue.running')}</h2>
        <JobList jobs={jobs.filter((each) => each.state !== 'PENDING')} none={t('queue.running_none')} />
      </section>
      <section className={ui.section}>
        <h2>{t('queue.waiting')}</h2>
        <JobList jobs={jobs.filter((each) => each.state === 'PENDING')} none={t('queue.waiting_none')} />
      </section>
      <section className={ui.section}>
        <h2>{t('queue.ended')}</h2>
        {ended.isError && <Failed error={ended.error} again={() => void ended.refetch()} />}
        {ended.data && <JobList jobs={ended.data.jobs.filter((each) => each.end_time)} none={t('queue.ended_none')} />}
      </section>
      {job !== undefined && <JobDrawer number={job} close={() => go('/queue')} />}
      {submitting && <SubmitDialog close={() => setSubmitting(false)} done={(made) => { setSubmitting(false); go(`/jobs/${made}`); }} />}
    </>
  );
}
