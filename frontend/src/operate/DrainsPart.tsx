// Every GPU of the server: drained or not, why, since when, by whom; and changing that.
import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Drain } from '../api/types';
import { model } from '../now/card';
import { Empty, Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords } from '../ui/words';
import { DrainForm, useDrains } from './DrainForm';
import styles from './operate.module.css';

export default function DrainsPart() {
  const { t } = useWords();
  const found = useDrains();
  const [open, setOpen] = useState<string | null>(null);
  if (found.isPending) return <Loading />;
  if (!found.data) return <Failed error={found.error} again={() => void found.refetch()} />;
  const gpus = found.data.gpus;
  if (gpus.length === 0) return <Empty title={t('now.no_gpus')} />;
  const drained = gpus.filter((gpu) => gpu.drained);
  const rest = gpus.filter((gpu) => !gpu.drained);
  const all = open === 'all' ? { gpus: rest, again: false } : open === 'none' ? { gpus: drained, again: true } : null;
  return (
    <section className={ui.panel} data-part="drains">
      <div className={styles.panelHead}>
        <h2>{drained.length === 0 ? t('drain.none_drained') : t('drain.count', { count: drained.length, total: gpus.length })}</h2>
        <span>{t('drain.intro')}</span>
      </div>
      <div className={styles.buttons}>
        {rest.length > 0 && <Button size="xs" variant="default" onClick={() => setOpen('all')}>{t('drain.open_all')}</Button>}
        {drained.length > 1 && <Button size="xs" variant="default" onClick={() => setOpen('none')}>{t('drain.use_all')}</Button>}
      </div>
      {all && <DrainForm key={open} gpus={all.gpus.map((gpu) => gpu.gpu_uuid)} index={null} drained={all.again} close={() => setOpen(null)} />}
      <ul className={styles.rows}>
        {gpus.map((gpu) => (
          <Row key={gpu.gpu_uuid} gpu={gpu} open={open === gpu.gpu_uuid} toggle={(on) => setOpen(on ? gpu.gpu_uuid : null)} />
        ))}
      </ul>
    </section>
  );
}

function Row({ gpu, open, toggle }: { gpu: Drain; open: boolean; toggle: (on: boolean) => void }) {
  const { t } = useWords();
  const index = gpu.gpu_index;
  return (
    <li className={styles.row} data-gpu-row={index} data-drained={gpu.drained}>
      <span className={`${styles.state} ${gpu.drained ? styles.stateWarn : ''}`}>{gpu.drained ? t('drain.state_on') : t('drain.state_off')}</span>
      <span className={styles.rowText}>
        <Link href={`/gpus/${index}`}>{t('word.gpu', { index })}</Link> · {model(gpu.name)}
        {gpu.drained && <b>{` · ${gpu.reason || t('drain.no_reason')}`}</b>}
        <small>
          {gpu.drained && gpu.by && <>{t('drain.by', { user: gpu.by })}{', '}<When at={gpu.time} />{' · '}</>}
          {gpu.jobs.length ? t('drain.running', { count: gpu.jobs.length }) : t('drain.running_none')}
          {gpu.bookings.length > 0 && ` · ${t('drain.booked', { count: gpu.bookings.length })}`}
        </small>
      </span>
      {!open && (
        <Button size="compact-xs" variant="default" onClick={() => toggle(true)}
          aria-label={gpu.drained ? t('drain.use_gpu', { index }) : t('drain.open_gpu', { index })}>
          {gpu.drained ? t('drain.use') : t('drain.open')}
        </Button>
      )}
      {open && <div className={styles.rowWhole}><DrainForm gpus={[gpu.gpu_uuid]} index={index} drained={gpu.drained} close={() => toggle(false)} /></div>}
    </li>
  );
}
