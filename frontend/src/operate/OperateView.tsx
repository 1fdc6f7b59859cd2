// Operate: what operators look after, a part at an address of its own. Others are told whose it is.
import { lazy, Suspense } from 'react';
import { Link } from 'wouter';
import { useMe } from '../app/session';
import { Command } from '../ui/Command';
import { Empty, Guard, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import styles from './operate.module.css';

const PARTS = {
  rules: lazy(() => import('./RulesPart')),
  users: lazy(() => import('./UsersPart')),
  drains: lazy(() => import('./DrainsPart')),
  audit: lazy(() => import('./AuditPart')),
  health: lazy(() => import('./HealthPart')),
} as const;
type Part = keyof typeof PARTS;

export default function OperateView({ part }: { part: string }) {
  const { t } = useWords();
  const me = useMe();
  if (!me.operator) {
    return (
      <>
        <header className={ui.head}><h1>{t('op.title')}</h1></header>
        <Empty title={t('op.not_yours')}>
          <p>{t('op.not_yours_more', { user: me.user })}</p>
          <Command text="roost rules show" />
        </Empty>
      </>
    );
  }
  const known = Object.keys(PARTS) as Part[];
  const here = known.find((each) => each === part);
  const View = here && PARTS[here];
  return (
    <>
      <header className={ui.head}>
        <h1>{t('op.title')}</h1>
        <nav className={styles.parts} aria-label={t('op.parts')}>
          {known.map((each) => (
            <Link key={each} href={`/operate/${each}`} aria-current={each === here ? 'page' : undefined}
              className={`${styles.part} ${each === here ? styles.partHere : ''}`}>
              {t(`op.part.${each}`)}
            </Link>
          ))}
        </nav>
      </header>
      {View ? <Guard key={here}><Suspense fallback={<Loading />}><View /></Suspense></Guard> : <Empty title={t('op.not_found')} />}
    </>
  );
}
