// Health: what needs a hand first, each with what to do; then what is well.
import { useQuery } from '@tanstack/react-query';
import { get } from '../api/client';
import type { Health } from '../api/types';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords, type Said } from '../ui/words';
import styles from './operate.module.css';

const EVERY_MS = 10_000;
const LOOKS: Readonly<Record<string, string | undefined>> = { bad: styles.stateBad, warn: styles.stateWarn, ok: styles.stateOk };

/** What stands between backticks is a command. */
function Coded({ text }: { text: string }) {
  return <>{text.split('`').map((piece, place) => (place % 2 ? <code key={place} className={ui.mono}>{piece}</code> : piece))}</>;
}

export default function HealthPart() {
  const { t, language } = useWords();
  const found = useQuery({ queryKey: ['health', language], queryFn: () => get<Health>('v1/health'), refetchInterval: EVERY_MS });
  if (found.isPending) return <Loading />;
  if (!found.data) return <Failed error={found.error} again={() => void found.refetch()} />;
  const health = found.data;
  return (
    <section className={ui.panel} data-part="health" data-health={health.state}>
      <div className={styles.panelHead}>
        <h2>{t(`health.all.${health.state}` as Said)}</h2>
        <span>{t('health.about', { version: health.roost, server: health.server })}{' · '}{t('health.up')} <When at={health.started_time} /></span>
      </div>
      <ul className={styles.rows} aria-label={t('health.checks')}>
        {health.checks.map((check) => (
          <li key={`${check.code} ${check.subject} ${check.text}`} className={styles.row} data-check={check.part} data-state={check.state}>
            <span className={`${styles.state} ${LOOKS[check.state] ?? ''}`}>{t(`health.state.${check.state}` as Said)}</span>
            <span className={styles.rowText}>
              <b>{t(`health.part.${check.part}` as Said)}</b>{' · '}<Coded text={check.text} />
              {check.remedy && <small><Coded text={check.remedy} /></small>}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
