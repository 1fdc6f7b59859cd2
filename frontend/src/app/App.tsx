// Providers and routes. Only what the first view needs is in the first load; the others come when they
// are opened.
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Link, Route, Router, Switch } from 'wouter';
import { Problem } from '../api/client';
import { NowView } from '../now/NowView';
import { Empty, Guard, Loading } from '../ui/states';
import { useWords } from '../ui/words';
import { SessionGate } from './session';
import { Shell } from './Shell';
import { schemes, theme } from './theme';

const QueueView = lazy(() => import('../queue/QueueView'));
const CalendarView = lazy(() => import('../calendar/CalendarView'));
const MeView = lazy(() => import('../me/MeView'));
const TeamView = lazy(() => import('../team/TeamView'));
const OperateView = lazy(() => import('../operate/OperateView'));

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      refetchOnWindowFocus: false,
      retry: (count, error) => count < 2 && !(error instanceof Problem && error.status >= 400 && error.status < 500),
    },
  },
});

/** The page's prefix: the path of <base href> without the slash at its end. */
const base = new URL(document.baseURI).pathname.replace(/\/[^/]*$/, '');

function NotFound() {
  const { t } = useWords();
  return <Empty title={t('state.not_found')}><Link href="/">{t('state.home')}</Link></Empty>;
}

export function App() {
  return (
    <MantineProvider theme={theme} colorSchemeManager={schemes()} withCssVariables={false} deduplicateInlineStyles={false}>
      <QueryClientProvider client={cache}>
        <Router base={base}>
          <SessionGate>
            <Shell>
              <Guard>
                <Suspense fallback={<Loading />}>
                  <Switch>
                    <Route path="/"><NowView /></Route>
                    <Route path="/gpus/:gpu">{({ gpu }) => <NowView gpu={gpu} />}</Route>
                    <Route path="/queue"><QueueView /></Route>
                    <Route path="/jobs/:job">{({ job }) => <QueueView job={Number(job)} />}</Route>
                    <Route path="/calendar/:view?/:day?">{({ view, day }) => <CalendarView view={view} day={day} />}</Route>
                    <Route path="/bookings/:booking">{({ booking }) => <CalendarView booking={Number(booking)} />}</Route>
                    <Route path="/me"><MeView /></Route>
                    <Route path="/team"><TeamView /></Route>
                    <Route path="/operate/:part?">{({ part }) => <OperateView part={part ?? 'rules'} />}</Route>
                    <Route><NotFound /></Route>
                  </Switch>
                </Suspense>
              </Guard>
            </Shell>
          </SessionGate>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  );
}
