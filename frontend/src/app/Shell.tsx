// The frame: views, who is looking, and the notices that concern everyone (offline, simulated, trouble).
import { Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { address, remove } from '../api/client';
import { follow, useConnection } from '../api/live';
import { useLive } from '../api/queries';
import { clock } from '../lib/time';
import { speak, type Code } from '../text';
import { useNow } from '../ui/now';
import { Mark } from '../ui/Person';
import { useWords } from '../ui/words';
import { useMantineColorScheme } from '@mantine/core';
import styles from './app.module.css';
import { useMe } from './session';

export const VIEWS: readonly { path: string; code: Code; under: readonly string[]; operators?: true }[] = [
  { path: '/', code: 'nav.now', under: ['/gpus'] },
  { path: '/calendar', code: 'nav.calendar', under: ['/bookings'] },
  { path: '/queue', code: 'nav.queue', under: ['/jobs'] },
  { path: '/team', code: 'nav.team', under: [] },
  { path: '/me', code: 'nav.me', under: [] },
  { path: '/operate', code: 'nav.operate', under: [], operators: true },
];

function isHere(location: string, view: (typeof VIEWS)[number]): boolean {
  const starts = [view.path, ...view.under];
  return starts.some((start) => location === start || (start !== '/' && location.startsWith(`${start}/`)));
}

export function Shell({ children }: { children: ReactNode }) {
  const { t } = useWords();
  const me = useMe();
  const cache = useQueryClient();
  const [location] = useLocation();
  const { language } = useWords();
  useEffect(
    () => follow(cache, (status) => { if (status === 401) void cache.invalidateQueries({ queryKey: ['me'] }); }),
    // In another language the sentences of the stream are others, too.
    [cache, language],
  );
  const here = VIEWS.find((view) => isHere(location, view));
  useEffect(() => {
    document.title = here ? `${t(here.code)} · ${t('app.name')}` : t('app.name');
  }, [here, t]);
  return (
    <>
      <a className={styles.skip} href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>
        {t('app.skip')}
      </a>
      <nav className={styles.bar} aria-label={t('app.views')}>
        <Link href="/" className={styles.name}>
          <img src={address('icon.svg')} alt="" />
          {t('app.name')}
        </Link>
        <div className={styles.views}>
          {VIEWS.filter((view) => me.operator || !view.operators).map((view) => {
            const current = view === here;
            return (
              <Link key={view.path} href={view.path} aria-current={current ? 'page' : undefined}
                className={`${styles.view} ${current ? styles.viewHere : ''}`}>
                {t(view.code)}
              </Link>
            );
          })}
        </div>
        <span className={styles.room} />
        <span className={styles.server}>{me.server}</span>
        <Account />
      </nav>
      <Notices />
      <main id="main" tabIndex={-1} className={styles.main}>{children}</main>
    </>
  );
}

function Account() {
  const { t, language } = useWords();
  const me = useMe();
  const cache = useQueryClient();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const dark = colorScheme === 'dark';
  const other = language === 'zh' ? 'en' : 'zh';
  async function leave() {
    await remove('v1/session').catch(() => undefined);
    cache.clear();
    await cache.invalidateQueries({ queryKey: ['me'] });
  }
  return (
    <Menu position="bottom-end" width={210} withinPortal>
      <Menu.Target>
        <button type="button" className={styles.me} title={t('app.menu')}>
          <Mark user={me.user} />
          <span className={styles.meName}>{me.user}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {t('app.signed_in_as', { user: me.user })}
          {me.operator && ` · ${t('app.operator')}`}
        </Menu.Label>
        <Menu.Item onClick={() => setColorScheme(dark ? 'light' : 'dark')}>{dark ? t('app.light') : t('app.dark')}</Menu.Item>
        <Menu.Item lang={other === 'zh' ? 'zh-CN' : 'en'} onClick={() => { speak(other); void cache.invalidateQueries(); }}>
          {t('app.other_language')}
        </Menu.Item>
        {me.bySession && <Menu.Item onClick={() => void leave()}>{t('app.sign_out')}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}

function Notices() {
  const { t, language } = useWords();
  const me = useMe();
  const now = useNow();
  const connection = useConnection();
  const status = useLive('status').data;
  return (
    <div aria-live="polite">
      {connection.state === 'lost' && (
        <div className={styles.notice}>
          {connection.lastAt === null
            ? t('state.offline_first')
            : t('state.offline', { time: clock(new Date(connection.lastAt), now, me.timeZone, language) })}
        </div>
      )}
      {status?.trouble === 'full' && <div className={`${styles.notice} ${styles.noticeHand}`}>{t('now.trouble_full')}</div>}
      {status?.reboot_needed && <div className={`${styles.notice} ${styles.noticeHand}`}>{t('now.reboot')}</div>}
      {me.simulated && <div className={`${styles.notice} ${styles.noticeQuiet}`}>{t('app.simulated')}</div>}
    </div>
  );
}
