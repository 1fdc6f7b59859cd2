// A job opened: where it stands, why it waits and until when, and what may be done with it. Whatever ends
// something says first what it will do to whom.
import { Alert, Button, Drawer, Modal } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../api/client';
import { useJob, useWhy } from '../api/queries';
import type { Job } from '../api/types';
import { useMe } from '../app/session';
import { bytes, hours, percent } from '../lib/units';
import { duration } from '../lib/time';
import { Command } from '../ui/Command';
import { Person } from '../ui/Person';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useClock, When } from '../ui/When';
import { useWords, type Said } from '../ui/words';
import { Output } from './Output';
import styles from './queue.module.css';

type Act = 'cancel' | 'requeue' | 'hold' | 'release';

export function JobDrawer({ number, close }: { number: number; close: () => void }) {
  const { t } = useWords();
  const job = useJob(number);
  return (
    <Drawer opened onClose={close} position="right" size={720} closeButtonProps={{ 'aria-label': t('do.close') }}
      title={<strong>{`${t('job.title', { job: number })}${job.data ? ` · ${job.data.name}` : ''}`}</strong>}>
      {job.isPending && <Loading />}
      {job.isError && <Failed error={job.error} again={() => void job.refetch()} />}
      {job.data && <Body job={job.data} />}
    </Drawer>
  );
}

function Body({ job }: { job: Job }) {
  const me = useMe();
  const { t, language } = useWords();
  const asked = [
    t('queue.gpus', { count: job.request.gpus }),
    job.request.gpu_memory_bytes === null ? '' : bytes(job.request.gpu_memory_bytes),
    job.request.walltime_s === null ? t('queue.no_end') : duration(job.request.walltime_s, language),
  ].filter(Boolean).join(', ');
  return (
    <>
      <Person user={job.user} />{' '}
      <span className={styles.tag}>{t(`job.state.${job.state}` as Said)}</span>
      {job.class !== 'regular' && <span className={styles.tag}>{t(`class.${job.class}` as Said)}</span>}
      {job.end_time && job.text && <p>{job.text}</p>}
      {job.state === 'PENDING' && <Why job={job} />}
      <dl className={styles.facts}>
        <dt>{t('submit.command')}</dt><dd className={ui.mono}>{job.command.join(' ')}</dd>
        <dt>{t('job.request')}</dt><dd>{asked}</dd>
        <dt>{t('job.submitted')}</dt><dd><When at={job.submit_time} /></dd>
        {job.start_time && <><dt>{t('job.started')}</dt><dd><When at={job.start_time} /></dd></>}
        {job.end_time && <><dt>{t('job.ended')}</dt><dd><When at={job.end_time} /></dd></>}
        {job.exit_code !== null && <><dt>{t('job.exit')}</dt><dd>{job.exit_code}</dd></>}
        {job.gpu_s > 0 && (
          <><dt>{t('job.used')}</dt><dd>{t('job.used_value', { hours: hours(job.gpu_s), percent: percent(job.mean_utilisation_percent) })}</dd></>
        )}
        {job.directory && <><dt>{t('job.directory')}</dt><dd className={ui.mono}>{job.directory}</dd></>}
        {job.output && <><dt>{t('job.output')}</dt><dd className={ui.mono}>{job.output}</dd></>}
      </dl>
      <Acts job={job} />
      {(job.output || me.operator || me.user === job.user) && <Output key={job.job} job={job.job} />}
      {job.output && <p className={ui.quiet}>{t('job.follow')} <Command text={`roost logs -f ${job.job}`} /></p>}
    </>
  );
}

function Why({ job }: { job: Job }) {
  const { t } = useWords();
  const clock = useClock();
  const why = useWhy(job.job, true).data;
  if (!why) return <p className={ui.quiet}>{job.wait}</p>;
  return (
    <section className={styles.block}>
      <h3>{t('job.why')}</h3>
      <ul className={styles.reasons}>
        {why.reasons.map((reason) => (
          <li key={reason.code + reason.text}>
            {reason.text}
            {reason.rule && <span className={styles.tag}>{t('job.rule', { rule: reason.rule })}</span>}
          </li>
        ))}
      </ul>
      {why.forecast_start && <p>{t('job.likely', { time: clock(why.forecast_start) })}</p>}
      {why.forecast_latest && <p className={ui.quiet}>{t('job.latest', { time: clock(why.forecast_latest) })}</p>}
      {why.forecast_unknown && <p className={ui.quiet}>{why.forecast_unknown.text}</p>}
      {why.startable_now !== null && why.startable_now > 0 && <p>{t('job.startable', { count: why.startable_now })}</p>}
    </section>
  );
}

function Acts({ job }: { job: Job }) {
  const { t } = useWords();
  const me = useMe();
  const cache = useQueryClient();
  const [asking, setAsking] = useState<'cancel' | 'requeue' | null>(null);
  const act = useMutation({
    mutationFn: (what: Act) => post(`v1/jobs/${job.job}/${what}`),
    onSuccess: () => { setAsking(null); return cache.invalidateQueries({ queryKey: ['job', job.job] }); },
  });
  if (job.end_time || (!me.operator && me.user !== job.user)) return null;
  const waits = job.state === 'PENDING';
  const values = { job: job.job, user: job.user, gpus: job.gpu_indices.join(', ') || '–' };
  return (
    <>
      <div className={styles.buttons}>
        <Button size="xs" color="red" variant="light" onClick={() => setAsking('cancel')}>{t('job.cancel')}</Button>
        {!waits && <Button size="xs" variant="default" onClick={() => setAsking('requeue')}>{t('job.requeue')}</Button>}
        {waits && (
          <Button size="xs" variant="default" loading={act.isPending} onClick={() => act.mutate(job.held ? 'release' : 'hold')}>
            {job.held ? t('job.release') : t('job.hold')}
          </Button>
        )}
      </div>
      {act.error && <Alert color="red" role="alert" mt="sm">{act.error.message}</Alert>}
      {asking && (
        <Modal opened onClose={() => setAsking(null)} title={<strong>{t('job.title', { job: job.job })}</strong>} closeButtonProps={{ 'aria-label': t('do.close') }}>
          <p>{t(asking === 'requeue' ? 'job.will_requeue' : waits ? 'job.will_cancel_wait' : 'job.will_cancel_run', values)}</p>
          {act.error && <Alert color="red" role="alert">{act.error.message}</Alert>}
          <div className={styles.buttons}>
            <Button color="red" loading={act.isPending} onClick={() => act.mutate(asking)}>
              {t(asking === 'requeue' ? 'job.do_requeue' : 'job.do_cancel')}
            </Button>
            <Button variant="default" onClick={() => setAsking(null)}>{t('do.back')}</Button>
          </div>
        </Modal>
      )}
    </>
  );
}
