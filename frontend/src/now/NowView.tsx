// Now: is a GPU free for me, and if not, whose is it and until when? The first line answers, the cards
// show.
import { lazy, Suspense, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { useMe } from '../app/session';
import { useLive, useRecent } from '../api/queries';
import type { Job, Status } from '../api/types';
import { Choice } from '../ui/Choice';
import { Command } from '../ui/Command';
import { Empty, Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useClock } from '../ui/When';
import { useWords } from '../ui/words';
import { cardOf, nextFree, type Card } from './card';
import { GpuCard } from './GpuCard';
import styles from './now.module.css';

const GpuDrawer = lazy(() => import('./GpuDrawer'));
const DENSE_FROM = 17;
const NO_JOBS: readonly Job[] = [];

type Filter = 'all' | 'free' | 'mine';

export function NowView({ gpu }: { gpu?: string }) {
  const { t } = useWords();
  const me = useMe();
  const status = useLive('status');
  const jobs = useLive('jobs').data?.jobs ?? NO_JOBS;
  const recent = useRecent(null, 60).data;
  const [filter, setFilter] = useState<Filter>('all');
  const [, go] = useLocation();
  const byNumber = useMemo(() => new Map(jobs.map((job) => [job.job, job])), [jobs]);
  const cards = useMemo(
    () => (status.data?.gpus ?? []).map((each) => cardOf(each, byNumber, me.user)),
    [status.data, byNumber, me.user],
  );
  if (status.isPending) return <Loading />;
  if (!status.data) return <Failed error={status.error} again={() => void status.refetch()} />;
  const shown = cards.filter((card) => filter === 'all' || (filter === 'free' ? card.free : card.mine));
  const opened = gpu === undefined ? undefined : cards.find((card) => String(card.gpu.index) === gpu || card.gpu.uuid === gpu);
  return (
    <>
      <Answer cards={cards} status={status.data}>
        {cards.length > 0 && (
          <Choice label={t('now.filter')} value={filter} onChange={setFilter}
            options={[
              { value: 'all', label: t('now.all') },
              { value: 'free', label: t('now.only_free') },
              { value: 'mine', label: t('now.only_mine') },
            ]} />
        )}
      </Answer>
      {cards.length === 0 ? (
        <Nothing status={status.data} />
      ) : shown.length === 0 ? (
        <Empty title={t('now.none_match')} />
      ) : (
        <div className={`${styles.grid} ${cards.length >= DENSE_FROM ? styles.dense : ''}`}>
          {shown.map((card) => (
            <GpuCard key={card.gpu.uuid} card={card} recent={recent?.gpus[card.gpu.uuid]?.['utilisation_percent']} />
          ))}
        </div>
      )}
      <Limits limits={status.data.limits} />
      {opened && (
        <Suspense fallback={null}>
          <GpuDrawer card={opened} close={() => go('/')} />
        </Suspense>
      )}
    </>
  );
}

function Answer({ cards, status, children }: { cards: readonly Card[]; status: Status; children: React.ReactNode }) {
  const { t } = useWords();
  const clock = useClock();
  const free = cards.filter((card) => card.free).length;
  const next = nextFree(cards);
  return (
    <header className={ui.head}>
      <h1 className={free ? ui.free : ''}>
        {free ? t('now.free', { count: free, total: cards.length }) : t('now.free_none')}
      </h1>
      {free > 0 && (
        <span className={styles.take}>
          {t('now.take')}
          <Command text="roost run -g 1 -- python train.py" />
        </span>
      )}
      {free === 0 && cards.length > 0 && (
        <p>
          {next
            ? t('now.next', {
                index: next.gpu.index,
                user: next.holdings[0]?.user ?? t('card.unattributed'),
                time: clock(next.until),
              })
            : t('now.next_unknown')}
        </p>
      )}
      <span className={ui.headEnd}>
        <span className={ui.quiet}>{t('now.queue', { ...status.queue })}</span>
        {children}
      </span>
    </header>
  );
}

function Nothing({ status }: { status: Status }) {
  const { t } = useWords();
  return (
    <Empty title={status.agent ? t('now.no_gpus') : t('now.agent_away')}>
      {status.driver_remedy ?? t('now.no_gpus_do')}
    </Empty>
  );
}

function Limits({ limits }: { limits: readonly string[] }) {
  const { t } = useWords();
  if (!limits.length) return null;
  return (
    <details className={styles.limits}>
      <summary>{t('now.limits')}</summary>
      <ul>{limits.map((limit) => <li key={limit}>{limit}</li>)}</ul>
    </details>
  );
}
