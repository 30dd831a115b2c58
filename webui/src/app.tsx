// Chooses what to show: by the box's phase, then by whether somebody is logged in, then by the address.
import { useEffect } from 'preact/hooks';
import { watchPhase } from './lib/boot';
import { t } from './lib/messages';
import { navigate, safeNext } from './lib/router';
import { passwordPrompt, place, session, sessionKnown, setup, unreachable } from './lib/stores';
import { dialogs } from './ui/dialogs';
import { EmptyState } from './ui/EmptyState';
import { Frame } from './ui/Frame';
import { Gate } from './ui/Gate';
import { Lazy, type Loader } from './ui/Lazy';
import { Page } from './ui/Page';

type Route = Loader<{ id?: string }>;

const gates = {
  setup: () => import('./routes/setup/SetupPage'),
  login: () => import('./routes/login/LoginPage'),
  locked: () => import('./routes/locked/LockedPage'),
} satisfies Record<string, Route>;

const pages: Record<string, Route> = {
  '/': () => import('./routes/overview/OverviewPage'),
  '/nodes': () => import('./routes/nodes/NodesPage'),
  '/nodes/:id': () => import('./routes/nodes/NodePage'),
  '/power': () => import('./routes/power/PowerPage'),
  '/peers': () => import('./routes/peers/PeersPage'),
  '/doctor': () => import('./routes/doctor/DoctorPage'),
  '/datasets': () => import('./routes/datasets/DatasetsPage'),
  '/datasets/:id': () => import('./routes/dataset/DatasetPage'),
  '/jobs': () => import('./routes/jobs/JobsPage'),
  '/jobs/new': () => import('./routes/newjob/NewJobPage'),
  '/jobs/:id': () => import('./routes/job/JobPage'),
  '/models': () => import('./routes/models/ModelsPage'),
  '/models/:id': () => import('./routes/model/ModelPage'),
  '/models/:id/use': () => import('./routes/use/UsePage'),
  '/users': () => import('./routes/users/UsersPage'),
  '/tokens': () => import('./routes/tokens/TokensPage'),
  '/sessions': () => import('./routes/sessions/SessionsPage'),
  '/audit': () => import('./routes/audit/AuditPage'),
  '/settings': () => import('./routes/settings/SettingsPage'),
  '/account': () => import('./routes/account/AccountPage'),
};

function match(path: string): { load: Route; id?: string } | null {
  const clean = path.length > 1 ? path.replace(/\/$/, '') : path;
  const exact = pages[clean];
  if (exact) return { load: exact };
  const one = /^(\/\w+)\/([^/]+)(\/use)?$/.exec(clean);
  const load = one && pages[`${one[1]}/:id${one[3] ?? ''}`];
  return load ? { load, id: decodeURIComponent(one[2]!) } : null;
}

function Inside() {
  const { path, query } = place.value;
  useEffect(() => {
    if (path === '/login') navigate(safeNext(query.get('next')), { replace: true });
  }, [path]);
  const found = match(path);
  return (
    <Frame>
      {found ? (
        <Lazy key={path} load={found.load} props={{ id: found.id }} />
      ) : (
        path !== '/login' && (
          <Page title={t('missing.title')}>
            <EmptyState icon="help" title={t('missing.head')} action={<a href="/">{t('missing.back')}</a>}>
              {t('missing.text')}
            </EmptyState>
          </Page>
        )
      )}
    </Frame>
  );
}

function Waiting() {
  const why = unreachable.value ? 'unreachable' : setup.value?.phase === 'joining' || setup.value?.phase === 'removed' ? setup.value.phase : 'starting';
  return (
    <Gate title={t(`wait.${why}`)}>
      <p>{t(`wait.${why}_text`)}</p>
    </Gate>
  );
}

function Outside() {
  const phase = setup.value?.phase;
  const usable = phase === 'ready' && sessionKnown.value;
  useEffect(() => (usable ? undefined : watchPhase()), [usable]);
  if (!phase) return unreachable.value ? <Waiting /> : null;
  if (phase === 'new') return <Lazy key="setup" load={gates.setup} props={{}} />;
  if (phase === 'locked') return <Lazy key="locked" load={gates.locked} props={{}} />;
  if (!usable) return <Waiting />;
  return <Lazy key="login" load={gates.login} props={{}} />;
}

export function App() {
  const inside = session.value !== null;
  const prompt = passwordPrompt.value;
  return (
    <>
      {inside ? <Inside /> : <Outside />}
      {prompt && <Lazy key={prompt.kind} load={dialogs.password} props={{ kind: prompt.kind }} />}
    </>
  );
}
