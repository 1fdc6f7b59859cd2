// Where I am signed in, and ending what is not here.
import { Alert, Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { get, remove } from '../api/client';
import type { SignedIn } from '../api/types';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords } from '../ui/words';
import styles from './me.module.css';

export function Sessions({ user }: { user: string }) {
  const { t } = useWords();
  const cache = useQueryClient();
  const found = useQuery({ queryKey: ['sessions'], queryFn: () => get<{ sessions: SignedIn[] }>('v1/sessions') });
  const end = useMutation({
    mutationFn: (session: string) => remove(`v1/sessions/${session}`),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['sessions'] }),
  });
  const mine = (found.data?.sessions ?? []).filter((each) => each.user === user);
  return (
    <section className={ui.panel}>
      <div className={styles.panelHead}><h2>{t('me.sessions')}</h2></div>
      {found.isPending && <Loading />}
      {found.isError && <Failed error={found.error} again={() => void found.refetch()} />}
      {end.error && <Alert color="red" role="alert">{end.error.message}</Alert>}
      {found.data && mine.length === 0 && <p className={ui.quiet}>{t('me.sessions_none')}</p>}
      <ul className={styles.rows}>
        {mine.map((each) => (
          <li key={each.session} className={styles.row} data-session={each.session}>
            <span className={styles.rowText}>
              {each.this ? <b>{t('me.session_here')}</b> : each.address}
              <small>{each.this && `${each.address} · `}{t('me.seen')} <When at={each.seen_time} ago /> · {shortly(each.browser)}</small>
            </span>
            {!each.this && (
              <Button size="compact-xs" variant="default" loading={end.isPending && end.variables === each.session}
                aria-label={t('me.session_end_of', { address: each.address })} onClick={() => end.mutate(each.session)}>{t('me.session_end')}</Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** "Chrome on Linux" of a browser's long name for itself; else its first words. */
function shortly(agent: string): string {
  const name = /(Edg|OPR|Firefox|Chrome|Safari)\//.exec(agent)?.[1];
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1];
  const known: Record<string, string> = { Edg: 'Edge', OPR: 'Opera' };
  return name ? [known[name] ?? name, system].filter(Boolean).join(', ') : agent.slice(0, 40);
}
