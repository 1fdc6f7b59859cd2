// The rules: in force with author and time, a text to try, the versions that were. Nothing here writes the
// file: it is root's.
import { useQuery } from '@tanstack/react-query';
import { get } from '../api/client';
import type { Rules } from '../api/types';
import { Person } from '../ui/Person';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords } from '../ui/words';
import { CheckBox } from './CheckBox';
import styles from './operate.module.css';
import { Versions } from './Versions';

const EVERY_MS = 15_000;

export default function RulesPart() {
  const found = useQuery({ queryKey: ['rules'], queryFn: () => get<Rules>('v1/rules'), refetchInterval: EVERY_MS });
  if (found.isPending) return <Loading />;
  if (!found.data) return <Failed error={found.error} again={() => void found.refetch()} />;
  return (
    <div className={styles.two} data-part="rules">
      <div className={styles.stack}>
        <InForce rules={found.data} />
        <Versions newest={found.data.version} />
      </div>
      <CheckBox rules={found.data} />
    </div>
  );
}

function InForce({ rules }: { rules: Rules }) {
  const { t } = useWords();
  return (
    <section className={ui.panel}>
      <div className={styles.panelHead}>
        <h2>{t('rules.in_force')}</h2>
        <b data-version={rules.version}>{t('rules.version', { version: rules.version })}</b>
        {rules.user ? <Person user={rules.user} /> : <span>{t('rules.by_nobody')}</span>}
        <When at={rules.time} />
        <code className={ui.mono}>{rules.path}</code>
      </div>
      {rules.problem && (
        <div className={styles.alert} role="alert">
          {t('rules.wrong', { version: rules.version })}
          <ul>{rules.mistakes.length > 0 ? rules.mistakes.map((each) => <li key={each.text}>{each.text}</li>) : <li>{rules.problem}</li>}</ul>
        </div>
      )}
      {rules.text.trim()
        ? <pre className={styles.text} tabIndex={0} role="region" aria-label={t('rules.text')}>{rules.text}</pre>
        : <p className={styles.note}>{t('rules.text_none')}</p>}
    </section>
  );
}
