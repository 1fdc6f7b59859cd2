// Freeing a GPU: first what it will do to whom, then exactly that, then what became of it.
import { Alert, Button, Modal } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { get, post } from '../api/client';
import type { FreeItem, FreePlan } from '../api/types';
import { bytes } from '../lib/units';
import { Mark } from '../ui/Person';
import { Failed, Loading } from '../ui/states';
import { useWords } from '../ui/words';
import styles from './now.module.css';

interface Freed {
  processes: { pid: number; user: string | null; outcome: string; text: string }[];
}

export function FreeDialog({ index, uuid, close }: { index: number; uuid: string; close: () => void }) {
  const { t } = useWords();
  const plan = useQuery({ queryKey: ['free-plan', uuid], queryFn: () => get<FreePlan>(`v1/gpus/${uuid}/free-plan`), gcTime: 0 });
  const free = useMutation({
    mutationFn: (items: FreeItem[]) =>
      post<Freed>(`v1/gpus/${uuid}/free`, { items: items.map(({ pid, start_ticks }) => ({ pid, start_ticks })), grace_s: 10 }),
  });
  const items = (plan.data?.items ?? []) as unknown as FreeItem[];
  return (
    <Modal opened onClose={close} title={<strong>{t('free.title', { index })}</strong>} size="lg" closeButtonProps={{ 'aria-label': t('do.close') }}>
      {plan.isPending && <Loading />}
      {plan.isError && <Failed error={plan.error} again={() => void plan.refetch()} />}
      {free.data ? (
        <ul className={styles.list}>
          {free.data.processes.map((each) => (
            <li key={each.pid}>{t('free.result', { pid: each.pid, user: each.user ?? t('word.nobody'), text: each.text || each.outcome })}</li>
          ))}
        </ul>
      ) : (
        plan.data && <Plan plan={plan.data} items={items} />
      )}
      {free.error && <Alert color="red" role="alert">{free.error.message}</Alert>}
      <div className={styles.buttons}>
        {!free.data && items.length > 0 && (
          <Button color="red" loading={free.isPending} onClick={() => free.mutate(items)}>{t('free.do', { count: items.length })}</Button>
        )}
        <Button variant="default" onClick={close}>{free.data ? t('do.close') : t('do.back')}</Button>
      </div>
    </Modal>
  );
}

function Plan({ plan, items }: { plan: FreePlan; items: readonly FreeItem[] }) {
  const { t } = useWords();
  const jobs = plan.jobs as { job: number; user: string | null }[];
  const others = plan.others as { pid: number; user: string | null; text: string }[];
  return (
    <>
      {items.length > 0 && <p>{t('free.will')}</p>}
      {items.map((item) => (
        <div key={item.pid} className={styles.row}>
          <Mark user={item.user} />
          <span className={styles.rowText}>
            <b>{item.user ?? t('card.unattributed')}</b>
            <code>{item.command}</code>
            <span className={styles.quiet}>{item.evidence}</span>
            {item.also_gpus.length > 0 && <span className={styles.hand}>{t('free.also', { gpus: item.also_gpus.join(', ') })}</span>}
          </span>
          <span className={styles.rowEnd}>
            <div>{bytes(item.memory_bytes)}</div>
            <div className={styles.quiet}>{`${t('gpu.pid')} ${item.pid}`}</div>
          </span>
        </div>
      ))}
      {jobs.length > 0 && (
        <>
          <p>{t('free.jobs')}</p>
          <ul>{jobs.map((job) => (
            <li key={job.job}><Link href={`/jobs/${job.job}`}>{t('free.job_of', { job: job.job, user: job.user ?? '?' })}</Link></li>
          ))}</ul>
        </>
      )}
      {items.length === 0 && jobs.length === 0 && <p>{t('free.nothing')}</p>}
      {others.length > 0 && (
        <p className={styles.note}>
          {t('free.left')}{' '}
          {others.map((other) => `${other.pid} (${other.user ?? '?'}): ${other.text}`).join('; ')}
        </p>
      )}
    </>
  );
}
