// By what a person comes in: sessions of the page and tokens, each with an end that an operator can put to it.
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { get, remove } from '../api/client';
import type { SignedIn, Token } from '../api/types';
import { Failed, Loading } from '../ui/states';
import { When } from '../ui/When';
import { useWords } from '../ui/words';
import styles from './operate.module.css';

export function Ways({ user }: { user: string }) {
  const { t } = useWords();
  const cache = useQueryClient();
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: () => get<{ sessions: SignedIn[] }>('v1/sessions') });
  const tokens = useQuery({ queryKey: ['tokens'], queryFn: () => get<{ tokens: Token[] }>('v1/tokens') });
  const end = useMutation({
    mutationFn: (path: string) => remove(path),
    onSettled: () => Promise.all(['sessions', 'tokens', 'users'].map((key) => cache.invalidateQueries({ queryKey: [key] }))),
  });
  const error = sessions.error ?? tokens.error;
  if (error) return <Failed error={error} again={() => void Promise.all([sessions.refetch(), tokens.refetch()])} />;
  if (!sessions.data || !tokens.data) return <Loading />;
  const theirs = sessions.data.sessions.filter((each) => each.user === user);
  const keys = tokens.data.tokens.filter((each) => each.user === user);
  if (!theirs.length && !keys.length) return <p className={styles.note}>{t('users.ways_none')}</p>;
  return (
    <>
      {end.error && <p className={styles.bad} role="alert">{end.error.message}</p>}
      <ul className={styles.rows} aria-label={t('users.ways_of', { user })}>
        {theirs.map((each) => (
          <li key={each.session} className={styles.row} data-session={each.session}>
            <span className={styles.rowText}>{t('users.session', { address: each.address })}
              <small>{t('me.seen')} <When at={each.seen_time} ago /></small></span>
            {each.this ? <span>{t('users.this')}</span> : (
              <Button size="compact-xs" variant="default" loading={end.isPending && end.variables === `v1/sessions/${each.session}`}
                aria-label={t('users.end_of', { user, address: each.address })} onClick={() => end.mutate(`v1/sessions/${each.session}`)}>{t('users.end')}</Button>
            )}
          </li>
        ))}
        {keys.map((each) => (
          <li key={each.token} className={styles.row} data-token={each.token}>
            <span className={styles.rowText}>{t('users.token', { name: each.name || each.token })}
              <small>{each.scopes.join(', ')} · {t('me.holds')} <When at={each.expires_time} /></small></span>
            <Button size="compact-xs" variant="default" loading={end.isPending && end.variables === `v1/tokens/${each.token}`}
              aria-label={t('users.revoke_of', { user, name: each.name || each.token })} onClick={() => end.mutate(`v1/tokens/${each.token}`)}>{t('users.revoke')}</Button>
          </li>
        ))}
      </ul>
    </>
  );
}
