// The people whom this Roost knows: role, groups, what they hold and wait for; and by what they come in,
// which can be ended here.
import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../api/client';
import type { Users } from '../api/types';
import { UNKNOWN } from '../lib/units';
import { Command } from '../ui/Command';
import { Person } from '../ui/Person';
import { Empty, Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords, type Said } from '../ui/words';
import styles from './operate.module.css';
import { Ways } from './Ways';

type User = Users['users'][number];

export default function UsersPart() {
  const { t } = useWords();
  const [like, setLike] = useState('');
  const [open, setOpen] = useState<string | null>(null);
  const found = useQuery({ queryKey: ['users'], queryFn: () => get<Users>('v1/users'), refetchInterval: 30_000 });
  if (found.isPending) return <Loading />;
  if (!found.data) return <Failed error={found.error} again={() => void found.refetch()} />;
  const words = like.trim().toLowerCase();
  const rows = found.data.users.filter((each) => [each.user, each.name, ...each.groups].some((text) => text.toLowerCase().includes(words)));
  return (
    <section className={ui.panel} data-part="users">
      <div className={styles.panelHead}>
        <h2>{t('users.summary', { count: found.data.users.length })}</h2>
        <span>{t('users.about')}</span>
      </div>
      <div className={styles.filters}>
        <TextInput size="xs" label={t('users.find')} value={like} onChange={(event) => setLike(event.currentTarget.value)} autoComplete="off" />
      </div>
      {rows.length === 0 ? <Empty title={t('users.none_like')} /> : (
        <div className={ui.scroll} tabIndex={0} role="region" aria-label={t('users.table')}>
          <table className={ui.table}>
            <thead><tr>
              <th>{t('users.person')}</th><th>{t('users.role')}</th><th>{t('users.groups')}</th><th>{t('users.gpus')}</th>
              <th className={ui.number}>{t('users.running')}</th><th className={ui.number}>{t('users.waiting')}</th>
              <th className={ui.number}>{t('users.bookings')}</th><th>{t('users.seen')}</th><th>{t('users.ways')}</th>
            </tr></thead>
            <tbody>{rows.map((user) => <Row key={user.user} user={user} open={open === user.user} toggle={() => setOpen(open === user.user ? null : user.user)} />)}</tbody>
          </table>
        </div>
      )}
      <div className={styles.apply}>
        {t('users.bar')}
        <Command text="usermod --lock --expiredate 1 NAME" />
      </div>
    </section>
  );
}

function Row({ user, open, toggle }: { user: User; open: boolean; toggle: () => void }) {
  const { t } = useWords();
  const number = (count: number) => (count === 0 ? UNKNOWN : count);
  const ways = [
    user.sessions > 0 && t('users.sessions', { count: user.sessions }), user.tokens > 0 && t('users.tokens', { count: user.tokens }),
  ].filter(Boolean).join(', ');
  return (
    <>
      <tr data-user={user.user}>
        <td><Person user={user.user} />{user.name && user.name !== user.user && <div className={ui.quiet}>{user.name}</div>}</td>
        <td>{user.role ? t(`users.role.${user.role}` as Said) : t('users.no_account')}
          {user.leads.length > 0 && <div className={ui.quiet}>{t('users.leads', { groups: user.leads.join(', ') })}</div>}</td>
        <td>{user.groups.join(', ') || UNKNOWN}</td>
        <td>{user.gpus.join(', ') || UNKNOWN}</td>
        <td className={ui.number}>{number(user.jobs_running)}</td>
        <td className={ui.number}>{number(user.jobs_waiting)}</td>
        <td className={ui.number}>{number(user.bookings)}</td>
        <td className={ui.nowrap}><When at={user.seen_time ?? user.used_time} ago /></td>
        <td className={ui.nowrap}>{ways ? (
          <button type="button" className={styles.link} aria-expanded={open} aria-label={`${ways}: ${user.user}`} onClick={toggle}>{ways}</button>
        ) : UNKNOWN}</td>
      </tr>
      {open && <tr><td colSpan={9}><div className={styles.ways}><Ways user={user.user} /></div></td></tr>}
    </>
  );
}
