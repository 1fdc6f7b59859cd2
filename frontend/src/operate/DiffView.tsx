// A difference of two texts: signs and colours, line numbers of both, what is as before counted.
import { useMemo } from 'react';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import { diff, pieces, type Line } from './diff';
import styles from './operate.module.css';

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;

export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const { t } = useWords();
  const found = useMemo(() => pieces(diff(before, after)), [before, after]);
  if (!found.length) return <p className={styles.note}>{t('rules.lines_same')}</p>;
  return (
    <div className={styles.diff} tabIndex={0} role="region" aria-label={label}>
      <div>
        {found.map((piece, place) => ('left' in piece
          ? <div key={place} className={styles.left}>{t('diff.same', { count: piece.left })}</div>
          : piece.lines.map((line) => <Row key={`${line.old} ${line.new}`} line={line} />)))}
      </div>
    </div>
  );
}

function Row({ line }: { line: Line }) {
  const { t } = useWords();
  const kind = line.kind === 'same' ? '' : line.kind === 'added' ? styles.added : styles.removed;
  return (
    <div className={`${styles.line} ${kind}`} data-line={line.kind}>
      <span>{line.old ?? ''}</span><span>{line.new ?? ''}</span><span aria-hidden="true">{SIGNS[line.kind]}</span>
      <code>
        {line.kind !== 'same' && <i className={ui.hidden}>{`${line.kind === 'added' ? t('diff.added') : t('diff.removed')}: `}</i>}
        {line.text}
      </code>
    </div>
  );
}
