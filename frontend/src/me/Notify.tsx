// What I am told, how and where: my channels with their topics, quiet hours, the daily summary, a test.
import { Alert, Button, NativeSelect, PasswordInput, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { get, post, put, remove } from '../api/client';
import type { Channel, Notifications } from '../api/types';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { useWords, type Said } from '../ui/words';
import styles from './me.module.css';

const QUERY = ['notifications'];
const WAYS = ['now', 'digest', 'off'] as const;
const HOURS = Array.from({ length: 24 }, (_, hour) => ({ value: String(hour), label: `${String(hour).padStart(2, '0')}:00` }));

interface Choices {
  language: string | null;
  quiet: string | null;
  digest_hour: number;
  wanted: Record<string, Record<string, string>>;
}

/** What is chosen as of now; channels of which nothing was chosen go on following what is on for everybody. */
function chosen(of: Notifications): Choices {
  const own = of.channels.filter((channel) => of.chosen.includes(channel.channel));
  return {
    language: of.language,
    quiet: of.quiet,
    digest_hour: of.digest_hour,
    wanted: Object.fromEntries(own.map((channel) => [channel.channel, channel.wanted])),
  };
}

export function Notify() {
  const { t } = useWords();
  const cache = useQueryClient();
  const [adding, setAdding] = useState(false);
  const found = useQuery({ queryKey: QUERY, queryFn: () => get<Notifications>('v1/notifications') });
  const change = useMutation({
    mutationFn: (choices: Choices) => put<Notifications>('v1/notifications', choices),
    onSuccess: (made) => cache.setQueryData(QUERY, made),
  });
  const data = found.data;
  const may = data ? [...data.services, ...data.webhooks] : [];
  return (
    <section className={ui.panel} data-notify>
      <div className={styles.panelHead}>
        <h2>{t('me.notify')}</h2>
        {may.length > 0 && !adding && <Button size="compact-xs" onClick={() => setAdding(true)}>{t('me.channel_add')}</Button>}
      </div>
      {found.isPending && <Loading />}
      {found.isError && <Failed error={found.error} again={() => void found.refetch()} />}
      {adding && <Add may={may} close={() => setAdding(false)} />}
      {data && data.channels.length === 0 && <p className={ui.quiet}>{t(may.length > 0 ? 'me.channels_none' : 'me.notify_not_set_up')}</p>}
      {change.error && <Alert color="red" role="alert">{change.error.message}</Alert>}
      {data && (
        <>
          <ul className={styles.rows}>
            {data.channels.map((channel) => (
              <One key={channel.channel} channel={channel} topics={data.topics}
                choose={(wanted) => change.mutate({ ...chosen(data), wanted: { ...chosen(data).wanted, [channel.channel]: wanted } })} />
            ))}
          </ul>
          <When of={data} change={(more) => change.mutate({ ...chosen(data), ...more })} />
        </>
      )}
    </section>
  );
}

function One({ channel, topics, choose }: { channel: Channel; topics: string[]; choose: (wanted: Record<string, string>) => void }) {
  const { t } = useWords();
  const cache = useQueryClient();
  const name = channel.name || channel.address;
  const test = useMutation({ mutationFn: () => post<{ sent: boolean; problem: string | null }>(`v1/notifications/channels/${channel.channel}/test`) });
  const drop = useMutation({
    mutationFn: () => remove(`v1/notifications/channels/${channel.channel}`),
    onSuccess: () => cache.invalidateQueries({ queryKey: QUERY }),
  });
  const trouble = channel.allowed ? channel.trouble && t('me.channel_trouble', { trouble: channel.trouble }) : t('me.channel_not_allowed');
  const problem = drop.error ?? test.error;
  return (
    <li className={styles.row} data-channel={channel.channel}>
      <span className={styles.rowText}>
        {channel.name || t(`channel.${channel.kind}` as Said)}
        <small>{channel.address}{trouble && <> · {trouble}</>}</small>
      </span>
      <Button size="compact-xs" variant="default" loading={test.isPending} aria-label={t('me.channel_test_of', { name })}
        onClick={() => test.mutate()}>{t('me.channel_test')}</Button>
      {channel.kind !== 'mail' && (
        <Button size="compact-xs" variant="default" loading={drop.isPending} aria-label={t('me.channel_remove_of', { name })}
          onClick={() => drop.mutate()}>{t('me.channel_remove')}</Button>
      )}
      {(test.data || problem) && (
        <p role="status" className={styles.whole}>
          {problem ? problem.message : test.data?.sent ? t('me.channel_tested') : t('me.channel_not_tested', { problem: test.data?.problem ?? '' })}
        </p>
      )}
      <details className={styles.whole}>
        <summary>{t('me.topics', { count: Object.keys(channel.wanted).length, all: topics.length })}</summary>
        {topics.map((topic) => (
          <label key={topic} className={styles.topic}>
            <span>{t(`topic.${topic}` as Said)}</span>
            <NativeSelect size="xs" value={channel.wanted[topic] ?? 'off'} data-topic={topic}
              data={WAYS.map((way) => ({ value: way, label: t(`way.${way}`) }))}
              onChange={(event) => {
                const { [topic]: _, ...others } = channel.wanted;
                const way = event.currentTarget.value;
                choose(way === 'off' ? others : { ...others, [topic]: way });
              }} />
          </label>
        ))}
      </details>
    </li>
  );
}

function Add({ may, close }: { may: string[]; close: () => void }) {
  const { t } = useWords();
  const cache = useQueryClient();
  const [address, setAddress] = useState('');
  const [name, setName] = useState('');
  const add = useMutation({
    mutationFn: () => post<Channel>('v1/notifications/channels', { address, name }),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: QUERY });
      close();
    },
  });
  function send(event: FormEvent) {
    event.preventDefault();
    add.mutate();
  }
  const known = may.map((one) => (one.includes('://') ? one : t(`channel.${one}` as Said)));
  return (
    <form className={styles.form} onSubmit={send}>
      <PasswordInput label={t('me.channel_address')} description={t('me.channel_address_how', { known: known.join(', ') })} maxLength={500}
        autoComplete="off" value={address} visibilityToggleButtonProps={{ 'aria-label': t('me.channel_show') }}
        onChange={(event) => setAddress(event.currentTarget.value)} />
      <TextInput label={t('me.channel_name')} maxLength={64} value={name} onChange={(event) => setName(event.currentTarget.value)} />
      {add.error && <Alert color="red" role="alert">{add.error.message}</Alert>}
      <div className={styles.buttons}>
        <Button type="submit" size="xs" loading={add.isPending} disabled={!address.trim()}>{t('me.channel_do')}</Button>
        <Button size="xs" variant="default" onClick={close}>{t('do.back')}</Button>
      </div>
    </form>
  );
}

function When({ of, change }: { of: Notifications; change: (more: Partial<Choices>) => void }) {
  const { t } = useWords();
  const [from, until] = (of.quiet_now ?? '-').split('-');
  const [start, setStart] = useState(from ?? '');
  const [end, setEnd] = useState(until ?? '');
  return (
    <details className={styles.more}>
      <summary>{of.quiet_now ? t('me.quiet_now', { hours: of.quiet_now }) : t('me.quiet_none')}</summary>
      <div className={styles.hours}>
        <TextInput type="time" size="xs" label={t('me.quiet_from')} value={start} onChange={(event) => setStart(event.currentTarget.value)} />
        <TextInput type="time" size="xs" label={t('me.quiet_until')} value={end} onChange={(event) => setEnd(event.currentTarget.value)} />
        <Button size="xs" disabled={!start || !end || start === end} onClick={() => change({ quiet: `${start}-${end}` })}>{t('me.quiet_do')}</Button>
        <Button size="xs" variant="default" onClick={() => change({ quiet: '' })}>{t('me.quiet_off')}</Button>
      </div>
      <p className={styles.note}>{t('me.quiet_how', { zone: of.time_zone })}</p>
      <div className={styles.hours}>
        <NativeSelect size="xs" label={t('me.digest')} value={String(of.digest_hour)} data={HOURS}
          onChange={(event) => change({ digest_hour: Number(event.currentTarget.value) })} />
        <NativeSelect size="xs" label={t('me.notify_language')} value={of.language ?? ''}
          data={[{ value: '', label: t('me.notify_language_default') }, { value: 'en', label: 'English' }, { value: 'zh', label: '中文' }]}
          onChange={(event) => change({ language: event.currentTarget.value || null })} />
      </div>
    </details>
  );
}
