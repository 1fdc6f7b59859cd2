// A proposed text: its mistakes with line, key, value and what is allowed; or what it would change, and how
// root puts it in force.
import { Alert, Button, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { post } from '../api/client';
import type { Rules, RulesCheck } from '../api/types';
import { UNKNOWN } from '../lib/units';
import { Command } from '../ui/Command';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import { DiffView } from './DiffView';
import styles from './operate.module.css';

export function CheckBox({ rules }: { rules: Rules }) {
  const { t } = useWords();
  const [text, setText] = useState('');
  const box = useRef<HTMLTextAreaElement>(null);
  const check = useMutation({
    mutationFn: async (given: string) => ({ given, ...(await post<RulesCheck>('v1/rules/check', { text: given })) }),
  });
  function show(line: number) {
    const area = box.current;
    if (!area) return;
    const lines = text.split('\n');
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    area.focus();
    area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    area.scrollTop = Math.max(0, (area.scrollHeight / lines.length) * (line - 4));
  }
  const result = check.data;
  return (
    <section className={ui.panel}>
      <div className={styles.panelHead}><h2>{t('rules.check')}</h2></div>
      <p className={styles.note}>{t('rules.check_how')}</p>
      <Textarea ref={box} label={t('rules.check_label')} value={text} onChange={(event) => setText(event.currentTarget.value)}
        rows={10} spellCheck={false} autoComplete="off" classNames={{ input: ui.mono ?? '' }} styles={{ input: { whiteSpace: 'pre' } }} />
      <div className={styles.buttons}>
        <Button size="xs" loading={check.isPending} disabled={!text.trim()} onClick={() => check.mutate(text)}>{t('rules.check_do')}</Button>
        <Button size="xs" variant="default" disabled={!rules.text.trim()} onClick={() => setText(rules.text)}>{t('rules.check_from')}</Button>
      </div>
      <div aria-live="polite">
        {check.error && <Alert mt="sm" color="red" role="alert">{check.error.message}</Alert>}
        {result && !result.ok && <Mistakes found={result.mistakes} show={show} />}
        {result?.ok && <Good found={result} rules={rules} />}
      </div>
    </section>
  );
}

function Mistakes({ found, show }: { found: RulesCheck['mistakes']; show: (line: number) => void }) {
  const { t } = useWords();
  return (
    <>
      <p className={styles.bad}>{t('rules.mistakes', { count: found.length })}</p>
      <div className={ui.scroll} tabIndex={0} role="region" aria-label={t('rules.mistakes', { count: found.length })}>
        <table className={`${ui.table} ${styles.keys}`}>
          <thead><tr><th>{t('rules.line')}</th><th>{t('rules.key')}</th><th>{t('rules.value')}</th><th>{t('rules.allowed')}</th></tr></thead>
          <tbody>{found.map((each, place) => (
            <tr key={place} data-mistake={each.key}>
              <td>{each.line === null ? UNKNOWN : (
                <button type="button" className={styles.link} aria-label={t('rules.line_to', { line: each.line })} onClick={() => show(each.line ?? 1)}>{each.line}</button>
              )}</td>
              <td><code className={ui.mono}>{each.key || UNKNOWN}</code></td>
              <td><code className={ui.mono}>{each.value ?? UNKNOWN}</code></td>
              <td>{each.text}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}

function Good({ found, rules }: { found: RulesCheck & { given: string }; rules: Rules }) {
  const { t } = useWords();
  const changes = found.changes ?? [];
  const path = rules.path || '/etc/roost/rules.toml';
  return (
    <div data-result="good">
      <p className={styles.good}>{t('rules.good')}</p>
      {changes.length === 0 ? <p className={styles.note}>{t('rules.good_same')}</p> : (
        <>
          <p className={styles.note}>{t('rules.good_changes', { count: changes.length })}</p>
          <Changes changes={changes} label={t('rules.would')} />
        </>
      )}
      <details open={changes.length > 0}>
        <summary>{t('rules.lines')}</summary>
        <DiffView before={rules.text} after={found.given} label={t('rules.would_lines')} />
      </details>
      {changes.length > 0 && (
        <div className={styles.apply}>
          {t('rules.apply')}
          <Command text={`install -m 644 new.toml ${path}`} />
          <span className={ui.quiet}>{t('rules.apply_more')}</span>
        </div>
      )}
    </div>
  );
}

export function Changes({ changes, label }: {
  changes: readonly { key: string; old: string | null; new: string | null }[];
  label: string;
}) {
  const { t } = useWords();
  return (
    <div className={ui.scroll} tabIndex={0} role="region" aria-label={label}>
      <table className={`${ui.table} ${styles.keys}`}>
        <thead><tr><th>{t('rules.key')}</th><th>{t('rules.old')}</th><th>{t('rules.new')}</th></tr></thead>
        <tbody>{changes.map((each) => (
          <tr key={each.key} data-change={each.key}>
            <td><code className={ui.mono}>{each.key}</code></td>
            <td><code className={ui.mono}>{each.old ?? UNKNOWN}</code></td>
            <td><code className={ui.mono}>{each.new ?? UNKNOWN}</code></td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}
