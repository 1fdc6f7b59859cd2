// Signing in with an account of the server. Says what was refused in the daemon's own words.
import { Alert, Button, Paper, PasswordInput, TextInput, Title } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { post } from '../api/client';
import type { Session } from '../api/types';
import { useWords } from '../ui/words';
import { Appearance } from './Appearance';
import styles from './app.module.css';

export function SignIn({ done }: { done: () => void }) {
  const { t } = useWords();
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const [refused, setRefused] = useState('');
  const [busy, setBusy] = useState(false);

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
      </Paper>
      <Appearance />
    </main>
  );
}
