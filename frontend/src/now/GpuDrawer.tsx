// A card opened: the last hour as lines, every process on it, and what may be done with it.
import { Button, Drawer } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { useRecent } from '../api/queries';
import type { Holder } from '../api/types';
import { useMe } from '../app/session';
import { bytes, celsius, gib, percent, watts } from '../lib/units';
import { DrainForm } from '../operate/DrainForm';
import { Mark } from '../ui/Person';
import { When } from '../ui/When';
import { useWords } from '../ui/words';
import { model, type Card } from './card';
import { FreeDialog } from './FreeDialog';
import { healthCode } from './GpuCard';
import styles from './now.module.css';

const Chart = lazy(() => import('../ui/Chart'));
const POINTS = 120;

export default function GpuDrawer({ card, close }: { card: Card; close: () => void }) {
  const { t } = useWords();
  const me = useMe();
  const { gpu } = card;
  const [freeing, setFreeing] = useState(false);
  const mayFree = gpu.holders.some((holder) => holder.pid !== null && (me.operator || holder.user === me.user));
  const [draining, setDraining] = useState(false);
  return (
    <Drawer opened onClose={close} position="right" size={520} closeButtonProps={{ 'aria-label': t('do.close') }}
      title={<strong>{`${t('word.gpu', { index: gpu.index })} · ${model(gpu.name)}`}</strong>}>
      <dl className={styles.facts}>
        <div><dt>{t('word.memory')}</dt><dd>{`${gib(gpu.memory_used_bytes)} / ${gib(gpu.memory_total_bytes)} GiB`}</dd></div>
        <div><dt>{t('word.utilisation')}</dt><dd>{percent(gpu.utilisation_percent)}</dd></div>
        <div><dt>{t('word.temperature')}</dt><dd>{celsius(gpu.temperature_c)}</dd></div>
        <div><dt>{t('word.power')}</dt><dd>{watts(gpu.power_w)}</dd></div>
      </dl>
      {!card.well && <p className={styles.hand}>{gpu.health_text || t(healthCode(gpu.health))}</p>}
      <section className={styles.part}>
        <h3>{t('gpu.holders')}</h3>
        {gpu.holders.length === 0 && <p className={styles.note}>{t('gpu.holders_none')}</p>}
        {gpu.holders.map((holder, place) => <Row key={`${holder.pid ?? ''} ${holder.kind} ${place}`} holder={holder} />)}
        <div className={styles.buttons}>
          {mayFree && <Button size="xs" color="red" variant="light" onClick={() => setFreeing(true)}>{t('gpu.free')}</Button>}
          {me.operator && !draining && (
            <Button size="xs" variant="default" onClick={() => setDraining(true)}>
              {gpu.drained ? t('drain.use') : t('gpu.drain')}
            </Button>
          )}
        </div>
        {draining && <DrainForm gpus={[gpu.uuid]} index={gpu.index} drained={gpu.drained} close={() => setDraining(false)} />}
      </section>
      <History uuid={gpu.uuid} />
      {freeing && <FreeDialog index={gpu.index} uuid={gpu.uuid} close={() => setFreeing(false)} />}
    </Drawer>
  );
}

function Row({ holder }: { holder: Holder }) {
  const { t } = useWords();
  return (
    <div className={styles.row}>
      <Mark user={holder.user} />
      <span className={styles.rowText}>
        <span>
          <b>{holder.user ?? t('card.unattributed')}</b>
          {' · '}
          {holder.job !== null ? <Link href={`/jobs/${holder.job}`}>{t('word.job', { job: holder.job })}</Link> : t(`kind.${holder.kind}`)}
          {holder.ignored && ` · ${t('card.ignored')}`}
        </span>
        {holder.command && <code>{holder.command}</code>}
        {holder.reason_text && <span>{holder.reason_text}</span>}
        {holder.remedy && <span className={styles.quiet}>{holder.remedy}</span>}
        {holder.right && <span className={styles.quiet}>{holder.right}</span>}
      </span>
      <span className={styles.rowEnd}>
        <div>{bytes(holder.memory_bytes)}</div>
        <div className={styles.quiet}><When at={holder.since} ago /></div>
        {holder.pid !== null && <div className={styles.quiet}>{`${t('gpu.pid')} ${holder.pid}`}</div>}
      </span>
    </div>
  );
}

const READINGS = [
  { name: 'utilisation_percent', code: 'word.utilisation', unit: '%', most: 100, factor: 1 },
  { name: 'memory_used_bytes', code: 'word.memory', unit: 'GiB', most: undefined, factor: 1 / 2 ** 30 },
  { name: 'power_w', code: 'word.power', unit: 'W', most: undefined, factor: 1 },
  { name: 'temperature_c', code: 'word.temperature', unit: '°C', most: undefined, factor: 1 },
] as const;

function History({ uuid }: { uuid: string }) {
  const { t } = useWords();
  const me = useMe();
  const recent = useRecent(uuid, POINTS).data;
  const charts = useMemo(() => {
    const rows = recent?.gpus[uuid];
    if (!recent || !rows) return [];
    const start = Date.parse(recent.from) / 1000;
    const times = Array.from({ length: POINTS }, (_, place) => start + (place + 0.5) * recent.step_s);
    return READINGS.map((reading) => ({
      ...reading,
      times,
      series: [{
        values: (rows[reading.name] ?? []).map((value) => (value === null ? null : value * reading.factor)),
        colour: '--accent', fill: '--accent-soft',
      }],
    }));
  }, [recent, uuid]);
  return (
    <section className={styles.part}>
      <h3>{t('gpu.history')}</h3>
      {recent && charts.length === 0 && <p className={styles.note}>{t('gpu.history_none')}</p>}
      <Suspense fallback={<div className={styles.chart} />}>
        {charts.map((chart) => (
          <div key={chart.name}>
            <p className={styles.chartTitle}>{t(chart.code)}</p>
            <Chart times={chart.times} series={chart.series} height={chart.name === 'utilisation_percent' ? 120 : 84}
              unit={chart.unit} zone={me.timeZone} label={`${t(chart.code)}: ${t('gpu.history')}`}
              {...(chart.most === undefined ? {} : { most: chart.most })} />
          </div>
        ))}
      </Suspense>
    </section>
  );
}
