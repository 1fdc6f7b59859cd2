// My tokens: made with scopes and an end, their secret told once, listed, revoked.
import { Alert, Button, Checkbox, Modal, NativeSelect, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { get, post, remove } from '../api/client';
import type { Token } from '../api/types';
import { useMe } from '../app/session';
import { Command } from '../ui/Command';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords, type Said } from '../ui/words';
import styles from './me.module.css';

const DAY_S = 86_400;
const ENDS = [1, 30, 90, 365] as const;
const SCOPES = ['read', 'jobs', 'bookings', 'operate'] as const;

export function Tokens({ user }: { user: string }) {
  const { t } = useWords();
  const cache = useQueryClient();
  const [making, setMaking] = useState(false);
  const found = useQuery({ queryKey: ['tokens'], queryFn: () => get<{ tokens: Token[] }>('v1/tokens') });
  const revoke = useMutation({
    mutationFn: (token: string) => remove(`v1/tokens/${token}`),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['tokens'] }),
  });
  const mine = (found.data?.tokens ?? []).filter((each) => each.user === user);
  return (
    <section className={ui.panel}>
      <div className={styles.panelHead}>
        <h2>{t('me.tokens')}</h2>
        <Button size="compact-xs" onClick={() => setMaking(true)}>{t('me.token_make')}</Button>
      </div>
      {found.isPending && <Loading />}
      {found.isError && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.data && mine.length === 0 && <p className={ui.quiet}>{t('me.tokens_none')}</p>}
      {revoke.error && <Alert color="red" role="alert">{revoke.error.message}</Alert>}
      <ul className={styles.rows}>
        {mine.map((each) => (
          <li key={each.token} className={styles.row} data-token={each.token}>
            <span className={styles.rowText}>
              {each.name || each.token}
              <small>
                {each.scopes.map((scope) => t(`scope.${scope}` as Said)).join(', ')} · {t('me.holds')} <When at={each.expires_time} />
                {' · '}{each.used_time ? <>{t('me.used')} <When at={each.used_time} ago /></> : t('me.unused')}
              </small>
            </span>
            <Button size="compact-xs" variant="default" loading={revoke.isPending && revoke.variables === each.token}
              aria-label={t('me.revoke_of', { name: each.name || each.token })} onClick={() => revoke.mutate(each.token)}>{t('me.revoke')}</Button>
          </li>
        ))}
      </ul>
      {making && <Make close={() => setMaking(false)} />}
    </section>
  );
}

function Make({ close }: { close: () => void }) {
  const { t } = useWords();
  const me = useMe();
  const cache = useQueryClient();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>(['read']);
  const [days, setDays] = useState('90');
  const make = useMutation({
    mutationFn: () => post<{ secret: string }>('v1/tokens', { name, scopes, expires_s: Number(days) * DAY_S }),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['tokens'] }),
  });
  function send(event: FormEvent) {
    event.preventDefault();
    make.mutate();
  }
  return (
    <Modal opened onClose={close} title={<strong>{t('me.token_make')}</strong>} closeButtonProps={{ 'aria-label': t('do.close') }}>
      {make.data ? (
        <>
          <p>{t('me.token_once')}</p>
          <p className={styles.secret} data-secret><Command text={make.data.secret} /></p>
          <div className={styles.buttons}><Button onClick={close}>{t('me.token_kept')}</Button></div>
        </>
      ) : (
        <form className={styles.form} onSubmit={send}>
          <TextInput label={t('me.token_name')} description={t('me.token_name_how')} maxLength={100} value={name} data-autofocus
            onChange={(event) => setName(event.currentTarget.value)} />
          <Checkbox.Group label={t('me.token_scopes')} value={scopes} onChange={setScopes}>
            {SCOPES.filter((scope) => scope !== 'operate' || me.operator).map((scope) => (
              <Checkbox key={scope} value={scope} mt={8} label={t(`scope.${scope}`)} />
            ))}
          </Checkbox.Group>
          <NativeSelect label={t('me.token_ends')} value={days} onChange={(event) => setDays(event.currentTarget.value)}
            data={ENDS.map((count) => ({ value: String(count), label: t('me.days', { count }) }))} />
          {make.error && <Alert color="red" role="alert">{make.error.message}</Alert>}
          <div className={styles.buttons}>
            <Button type="submit" loading={make.isPending} disabled={scopes.length === 0}>{t('me.token_do')}</Button>
            <Button variant="default" onClick={close}>{t('do.close')}</Button>
          </div>
        </form>
      )}
    </Modal>
  );
}
