// What a job prints, as it prints it: the last of it at once, then whatever is new, until it has ended.
// Must not know how a file is read; shows text alone, never as markup.
import { Alert, Button } from '@mantine/core';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { get, Problem, query } from '../api/client';
import type { Output as Piece } from '../api/types';
import { grown, NO_LINES, shownLast, type Lines } from '../lib/lines';
import { kib } from '../lib/units';
import ui from '../ui/ui.module.css';
import { useWords } from '../ui/words';
import styles from './queue.module.css';

const MOST_LINES = 5000;
const FIRST_BYTES = 65_536;
const WAIT_S = 15;
const PAUSE_MS = 1000;
const AGAIN_MS = 5000;

interface Seen {
  lines: Lines;
  piece: Piece | null;
  /** The first byte that is shown: what is before it is left out. */
  from: number;
  error: string;
}

const NOTHING: Seen = { lines: NO_LINES, piece: null, from: 0, error: '' };

function after(before: Seen, piece: Piece): Seen {
  if (piece.state !== 'open') return { ...before, piece, error: '' };
  const goes = before.piece?.state === 'open' && piece.file === before.piece.file && piece.offset === before.piece.next;
  const lines = grown(goes ? before.lines : NO_LINES, piece.text, MOST_LINES);
  return { lines, piece, from: goes ? before.from : piece.offset, error: '' };
}

function useOutput(job: number, paused: boolean): Seen {
  const [seen, setSeen] = useState<Seen>(NOTHING);
  const place = useRef<Piece | null>(null);
  useEffect(() => {
    if (paused) return undefined;
    let stopped = false;
    let timer = 0;
    async function look(): Promise<void> {
      const at = place.current;
      const open = at?.state === 'open';
      try {
        const piece = await get<Piece>(query(`v1/jobs/${job}/output`, {
          offset: open ? at.next : null, file: open ? at.file : null, limit: FIRST_BYTES, wait_s: open ? WAIT_S : 0,
        }));
        if (stopped) return;
        if (piece.state === 'open' || at?.state !== 'open') place.current = piece;
        setSeen((before) => after(before, piece));
        const over = piece.ended && piece.state !== 'slow' && piece.state !== 'busy' && piece.next >= piece.size_bytes;
        if (!over) timer = window.setTimeout(() => void look(), piece.state === 'open' ? PAUSE_MS : AGAIN_MS);
      } catch (error) {
        if (stopped) return;
        setSeen((before) => ({ ...before, error: error instanceof Error ? error.message : String(error) }));
        const refused = error instanceof Problem && [401, 403, 404].includes(error.status);
        if (!refused) timer = window.setTimeout(() => void look(), AGAIN_MS);
      }
    }
    void look();
    return () => { stopped = true; window.clearTimeout(timer); };
  }, [job, paused]);
  return seen;
}

export function Output({ job }: { job: number }) {
  const { t } = useWords();
  const [paused, setPaused] = useState(false);
  const [atEnd, setAtEnd] = useState(true);
  const { lines, piece, from, error } = useOutput(job, paused);
  const box = useRef<HTMLPreElement>(null);
  const last = shownLast(lines);
  useLayoutEffect(() => {
    if (atEnd && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, atEnd]);
  function moved(): void {
    const it = box.current;
    if (it) setAtEnd(it.scrollHeight - it.scrollTop - it.clientHeight < 24);
  }
  const empty = lines.done.length === 0 && last === '';
  const over = piece?.state === 'open' && piece.ended && piece.next >= piece.size_bytes;
  return (
    <section className={styles.block}>
      <div className={styles.outputHead}>
        <h3>{t('job.output')}</h3>
        <span className={ui.quiet} role="status">
          {piece?.state === 'open' && (over ? t('output.whole') : paused ? t('output.paused') : t('output.live'))}
        </span>
        {piece?.state === 'open' && !over && (
          <Button size="compact-xs" variant="default" onClick={() => setPaused(!paused)}>{t(paused ? 'output.go_on' : 'output.pause')}</Button>
        )}
        {!atEnd && !empty && <Button size="compact-xs" variant="default" onClick={() => setAtEnd(true)}>{t('output.to_end')}</Button>}
      </div>
      {error && <Alert color="red" role="alert">{error}</Alert>}
      {piece && piece.state !== 'open' && <p className={ui.quiet}>{piece.detail}</p>}
      {from > 0 && <p className={ui.quiet}>{t('output.cut', { size: kib(from) })}</p>}
      {piece?.state === 'open' && empty && <p className={ui.quiet}>{t('output.empty')}</p>}
      {!empty && (
        <pre ref={box} className={styles.output} tabIndex={0} role="region" aria-label={t('output.of', { job })} onScroll={moved} data-output>
          {lines.done.join('\n')}{lines.done.length > 0 && last ? '\n' : ''}{last}
        </pre>
      )}
    </section>
  );
}
