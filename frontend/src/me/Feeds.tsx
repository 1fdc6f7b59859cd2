// My calendar feeds: a secret address for a calendar program, told once, listed, revoked.
import { Alert, Button, Modal, NativeSelect } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { address, get, post, remove } from '../api/client';
import { useLive } from '../api/queries';
import type { Feed, FeedMade } from '../api/types';
import { useMe } from '../app/session';
import { Command } from '../ui/Command';
import { Failed, Loading } from '../ui/states';
import ui from '../ui/ui.module.css';
import { When } from '../ui/When';
import { useWords } from '../ui/words';
import styles from './me.module.css';

const QUERY = ['feeds'];

/** What a feed is of, in words: a GPU by its index where it is known. */
function useFeedWords(): (of: string, target: string | null) => string {
  const { t } = useWords();
  const gpus = useLive('status').data?.gpus ?? [];
  return (of, target) => {
    if (of === 'gpu') return t('feed.gpu', { target: gpus.find((gpu) => gpu.uuid === target)?.index ?? target ?? '' });
    if (of === 'group') return t('feed.group', { target: target ?? '' });
    return t(of === 'all' ? 'feed.all' : 'feed.mine');
  };
}

export function Feeds({ user }: { user: string }) {
  const { t } = useWords();
  const said = useFeedWords();
  const cache = useQueryClient();
  const [making, setMaking] = useState(false);
  const found = useQuery({ queryKey: QUERY, queryFn: () => get<{ feeds: Feed[] }>('v1/feeds') });
  const revoke = useMutation({
    mutationFn: (feed: string) => remove(`v1/feeds/${feed}`),
    onSuccess: () => cache.invalidateQueries({ queryKey: QUERY }),
  });
  const mine = (found.data?.feeds ?? []).filter((each) => each.user === user);
  return (
    <section className={ui.panel}>
      <div className={styles.panelHead}>
        <h2>{t('me.feeds')}</h2>
        <Button size="compact-xs" onClick={() => setMaking(true)}>{t('me.feed_make')}</Button>
      </div>
      {found.isPending && <Loading />}
      {found.isError && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.data && mine.length === 0 && <p className={ui.quiet}>{t('me.feeds_none')}</p>}
      {revoke.error && <Alert color="red" role="alert">{revoke.error.message}</Alert>}
      <ul className={styles.rows}>
        {mine.map((each) => (
          <li key={each.feed} className={styles.row} data-feed={each.feed}>
            <span className={styles.rowText}>
              {said(each.of, each.target)}
              <small>
                {t('me.made')} <When at={each.made_time} />
                {' · '}{each.used_time ? <>{t('me.used')} <When at={each.used_time} ago /></> : t('me.unused')}
              </small>
            </span>
            <Button size="compact-xs" variant="default" loading={revoke.isPending && revoke.variables === each.feed}
              aria-label={t('me.feed_revoke', { name: said(each.of, each.target) })} onClick={() => revoke.mutate(each.feed)}>{t('me.revoke')}</Button>
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
  const said = useFeedWords();
  const cache = useQueryClient();
  const gpus = useLive('status').data?.gpus ?? [];
  const [what, setWhat] = useState('mine:');
  const make = useMutation({
    mutationFn: () => {
      const [of = 'mine', target = ''] = what.split(/:(.*)/s);
      return post<FeedMade>('v1/feeds', target ? { of, [of]: target } : { of });
    },
    onSuccess: () => cache.invalidateQueries({ queryKey: QUERY }),
  });
  const choices = [
    { value: 'mine:', label: said('mine', null) },
    { value: 'all:', label: said('all', null) },
    ...me.groups.map((group) => ({ value: `group:${group}`, label: said('group', group) })),
    ...gpus.map((gpu) => ({ value: `gpu:${gpu.uuid}`, label: said('gpu', gpu.uuid) })),
  ];
  function send(event: FormEvent) {
    event.preventDefault();
    make.mutate();
  }
  return (
    <Modal opened onClose={close} title={<strong>{t('me.feed_make')}</strong>} closeButtonProps={{ 'aria-label': t('do.close') }}>
      {make.data ? (
        <>
          <p>{t('me.feed_once')}</p>
          <p className={styles.secret} data-secret><Command text={address(make.data.path.slice(1))} /></p>
          <div className={styles.buttons}><Button onClick={close}>{t('me.token_kept')}</Button></div>
        </>
      ) : (
        <form className={styles.form} onSubmit={send}>
          <NativeSelect label={t('me.feed_what')} data={choices} value={what} data-autofocus onChange={(event) => setWhat(event.currentTarget.value)} />
          {make.error && <Alert color="red" role="alert">{make.error.message}</Alert>}
          <div className={styles.buttons}>
            <Button type="submit" loading={make.isPending}>{t('me.feed_do')}</Button>
            <Button variant="default" onClick={close}>{t('do.close')}</Button>
          </div>
        </form>
      )}
    </Modal>
  );
}
