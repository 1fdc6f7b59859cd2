// Signing in with an account of the server. Says what was refused in the daemon's own words.
import { Alert, Button, Paper, PasswordInput, TextInput, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent } from 'react';
import { get, post } from '../api/client';
import type { Session } from '../api/types';
import { useWords } from '../ui/words';
import { Appearance } from './Appearance';
import styles from './app.module.css';

const REFUSALS = [
  'signin.oidc_stale', 'signin.oidc_denied', 'signin.oidc_untrue', 'signin.oidc_no_account', 'signin.oidc_unverified',
  'signin.oidc_away', 'signin.oidc_agent',
] as const;

/** What brought the browser back from the provider without a session; "" for nothing. */
const came = new URLSearchParams(location.hash.slice(1)).get('signin') ?? '';

interface Ways { oidc_name?: string | null }

export function SignIn({ done }: { done: () => void }) {
  const { t } = useWords();
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const [refused, setRefused] = useState('');
  const [busy, setBusy] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const ways = useQuery({ queryKey: ['ways'], queryFn: () => get<Ways>('v1/ping'), staleTime: 60_000 });
  const provider = ways.data?.oidc_name;

  useEffect(() => {
    if (!came) return;
    history.replaceState(history.state, '', location.pathname + location.search);
    const code = REFUSALS.find((one) => one === `signin.${came}`);
    if (code) setRefused(t(code));
    // Said once, in the language of that moment.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  async function leave() {
    setLeaving(true);
    setRefused('');
    const base = new URL(document.baseURI).pathname;
    const to = `/${location.pathname.slice(base.length)}${location.search}`;
    try {
      const { address } = await post<{ address: string }>('v1/session/oidc', { to });
      location.assign(address);
    } catch (error) {
      setRefused(error instanceof Error ? error.message : String(error));
      setLeaving(false);
    }
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (!user.trim() || !password) {
      setRefused(t('signin.required'));
      return;
    }
    setBusy(true);
    try {
      await post<Session>('v1/session', { user: user.trim(), password });
      done();
    } catch (error) {
      setRefused(error instanceof Error ? error.message : String(error));
      setPassword('');
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className={styles.signin}>
      <Paper component="form" className={styles.signinForm} onSubmit={(event: FormEvent) => void submit(event)}>
        <Title order={1} size="h3">{t('signin.title')}</Title>
        <p className={styles.quiet}>{t('signin.how')}</p>
        <TextInput label={t('signin.user')} name="user" autoComplete="username" autoCapitalize="none" spellCheck={false}
          autoFocus value={user} onChange={(event) => setUser(event.currentTarget.value)} />
        <PasswordInput label={t('signin.password')} name="password" autoComplete="current-password"
          value={password} onChange={(event) => setPassword(event.currentTarget.value)} />
        {refused && <Alert color="red" role="alert">{refused}</Alert>}
        <Button type="submit" loading={busy} fullWidth>{t('signin.do')}</Button>
        {provider && <>
          <p className={styles.quiet}>{t('signin.or')}</p>
          <Button variant="default" fullWidth loading={leaving} onClick={() => void leave()}>{t('signin.oidc', { name: provider })}</Button>
        </>}
      </Paper>
      <Appearance />
    </main>
  );
}
