// Me: what is mine and what it has come to. My jobs, bookings and use; the ways in to my account; how the
// page looks.
import { useEnded, useLive } from '../api/queries';
import { Appearance } from '../app/Appearance';
import { useMe } from '../app/session';
import { JobList } from '../queue/JobList';
import { Person } from '../ui/Person';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import { Bookings } from './Bookings';
import { Feeds } from './Feeds';
import { Notify } from './Notify';
import { Sessions } from './Sessions';
import { Tokens } from './Tokens';
import { Usage } from './Usage';
import styles from './me.module.css';

const ENDED = 10;

export default function MeView() {
  const { t } = useWords();
  const me = useMe();
  const groups = me.groups.filter((group) => group !== me.user); // not the one that an account has to itself
  return (
    <>
      <header className={ui.head}>
        <h1>{t('me.title')}</h1>
        <Person user={me.user} />
        {me.operator && <span className={ui.quiet}>{t('app.operator')}</span>}
        {groups.length > 0 && <span className={ui.quiet}>{groups.join(', ')}</span>}
        <span className={ui.headEnd}><Appearance /></span>
      </header>
      <Usage user={me.user} />
      <Jobs user={me.user} />
      <Bookings user={me.user} />
      <div className={styles.two}>
        <Notify />
        <Tokens user={me.user} />
        <Feeds user={me.user} />
        <Sessions user={me.user} />
      </div>
    </>
  );
}

function Jobs({ user }: { user: string }) {
  const { t } = useWords();
  const live = useLive('jobs');
  const ended = useEnded(user, ENDED);
  if (live.isPending) return <Loading />;
  const mine = (live.data?.jobs ?? []).filter((job) => job.user === user);
  return (
    <section className={ui.section}>
      <h2>{t('me.jobs')}</h2>
      {live.isError && !live.data && <Failed error={live.error} again={() => void live.refetch()} />}
      <JobList jobs={mine} none={t('me.jobs_none')} />
      <details className={styles.more}>
        <summary>{t('me.jobs_ended')}</summary>
        {ended.isError && <Failed error={ended.error} again={() => void ended.refetch()} />}
        {ended.data && <JobList jobs={ended.data.jobs.filter((job) => job.end_time)} none={t('queue.ended_none')} />}
      </details>
    </section>
  );
}
