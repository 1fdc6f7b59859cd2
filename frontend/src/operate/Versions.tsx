// Every version of the rules that was in force: when, whose, what it changed, and its lines.
import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get, query } from '../api/client';
import type { RulesHistory, RulesVersion } from '../api/types';
import { Person } from '../ui/Person';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords } from '../ui/words';
import { Changes } from './CheckBox';
import { DiffView } from './DiffView';
import styles from './operate.module.css';

const PAGE = 20;
type Row = RulesHistory['history'][number];

export function Versions({ newest }: { newest: number }) {
  const { t } = useWords();
  const found = useInfiniteQuery({
    queryKey: ['rules', 'history', newest],
    queryFn: ({ pageParam }) => get<RulesHistory>(query('v1/rules/history', { limit: PAGE, before: pageParam })),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => (last.history.length < PAGE ? null : (last.history.at(-1)?.version ?? null)),
  });
  const rows = found.data?.pages.flatMap((page) => page.history) ?? [];
  return (
    <section className={ui.panel}>
      <h2>{t('rules.history')}</h2>
      {found.isPending && <Loading />}
      {found.isError && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.data && rows.length === 0 && <p className={styles.note}>{t('rules.history_none')}</p>}
      <ul className={styles.versions}>
        {rows.map((row) => <Version key={row.version} row={row} />)}
      </ul>
      {found.hasNextPage && (
        <Button size="xs" variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>{t('rules.more')}</Button>
      )}
    </section>
  );
}

function Version({ row }: { row: Row }) {
  const { t } = useWords();
  const [open, setOpen] = useState(false);
  const changes = row.changes ?? [];
  return (
    <li data-row={row.version}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <b>{t('rules.version', { version: row.version })}</b>
          {row.user && <><Person user={row.user} />{' '}</>}<span className={ui.quiet}><When at={row.time} />{' · '}
            {changes.length ? t('rules.changes', { count: changes.length }) : t('rules.changes_none')}</span>
        </summary>
        {row.problem && <p className={styles.note}>{t('rules.unreadable', { problem: row.problem })}</p>}
        {changes.length > 0 && <Changes changes={changes} label={t('rules.key_lines', { version: row.version })} />}
        {open && <Lines version={row.version} />}
      </details>
    </li>
  );
}

function Lines({ version }: { version: number }) {
  const { t } = useWords();
  const text = (number: number) => ({
    queryKey: ['rules', 'version', number],
    queryFn: () => get<RulesVersion>(`v1/rules/${number}`),
    staleTime: Infinity,
  });
  const after = useQuery(text(version));
  const before = useQuery({ ...text(version - 1), enabled: version > 1 });
  const error = after.error ?? before.error;
  if (error) return <Failed error={error} again={() => void Promise.all([after.refetch(), before.refetch()])} />;
  if (!after.data || (version > 1 && !before.data)) return <Loading />;
  return (
    <>
      <p className={styles.note}>{version > 1 ? t('rules.diff_to', { version: version - 1 }) : t('rules.first')}</p>
      <DiffView before={before.data?.text ?? ''} after={after.data.text} label={t('diff.label', { version })} />
    </>
  );
}
