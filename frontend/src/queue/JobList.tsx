// Jobs in lines: whose, what, where and until when, or why it waits.
import { Link } from 'wouter';
import type { Job } from '../api/types';
import { Person } from '../ui/Person';
import { useClock, When } from '../ui/When';
import { useWords, type Said } from '../ui/words';
import styles from './queue.module.css';

/** When it is over by its walltime; null where it has none, or does not run. */
export function endOf(job: Job): string | null {
  if (!job.start_time || job.request.walltime_s === null) return null;
  return new Date(Date.parse(job.start_time) + job.request.walltime_s * 1000).toISOString();
}

export function JobList({ jobs, none }: { jobs: readonly Job[]; none: string }) {
  return (
    <ul className={styles.list}>
      {jobs.length === 0 && <li className={styles.none}>{none}</li>}
      {jobs.map((job) => <li key={job.job} className={styles.item}><Line job={job} /></li>)}
    </ul>
  );
}

function Line({ job }: { job: Job }) {
  const { t } = useWords();
  return (
    <Link href={`/jobs/${job.job}`} className={styles.link} data-job={job.job}>
      <span className={styles.number}>{job.job}</span>
      <Person user={job.user} />
      <span className={styles.name}>
        {job.name}
        {job.class !== 'regular' && (
          <span className={`${styles.tag} ${job.class === 'urgent' ? styles.urgent : ''}`}>{t(`class.${job.class}` as Said)}</span>
        )}
        {job.held && <span className={styles.tag}>{t('queue.held')}</span>}
      </span>
      <span className={styles.end}><End job={job} /></span>
      {job.wait && <span className={styles.why}>{job.wait}</span>}
      {job.end_time && job.text && job.state !== 'COMPLETED' && <span className={styles.why}>{job.text}</span>}
    </Link>
  );
}

function End({ job }: { job: Job }) {
  const { t } = useWords();
  const clock = useClock();
  if (job.end_time) return <>{`${t(`job.state.${job.state}` as Said)} · `}<When at={job.end_time} ago /></>;
  if (job.state === 'PENDING') return <>{t('queue.gpus', { count: job.request.gpus })}</>;
  const where = job.gpu_indices.length ? t('queue.on', { gpus: job.gpu_indices.join(', ') }) : t('queue.no_gpu');
  const end = endOf(job);
  return <>{`${where} · ${end ? t('queue.ends', { time: clock(end) }) : t('queue.no_end')}`}</>;
}
