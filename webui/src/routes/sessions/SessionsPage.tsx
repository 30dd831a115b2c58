// Where one is logged in, and everybody for an administrator. Ending one acts at once.
import '../../messages/en-access';
import * as access from '../../lib/api-access';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { isAdmin, place, serverNow, toast } from '../../lib/stores';
import type { SessionRow } from '../../lib/types';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Choice } from '../../ui/Field';
import { Page } from '../../ui/Page';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import css from '../users/users.module.css';

// "Firefox on Linux" says more to a person than the whole header.
export function agentName(text: string): string {
  const browser = /(Edg|OPR|Firefox|Chrome|Safari|samovar)\/?/.exec(text)?.[1];
  const system = /(Windows|Mac OS X|Android|iPhone|iPad|Linux)/.exec(text)?.[1];
  const names: Record<string, string> = { Edg: 'Edge', OPR: 'Opera', 'Mac OS X': 'macOS', samovar: 'samovar' };
  if (!browser) return text.slice(0, 40) || '–';
  const name = names[browser] ?? browser;
  return system ? t('sessions.agent', { browser: name, system: names[system] ?? system }) : name;
}

function columns(all: boolean, end: (row: SessionRow) => void, busy: boolean): Column<SessionRow>[] {
  return [
    {
      id: 'agent',
      title: t('sessions.where'),
      main: true,
      sort: (s) => agentName(s.user_agent),
      cell: (s) => (
        <>
          {agentName(s.user_agent)} {s.current && <Badge tone="ok" text={t('sessions.current')} />}
          <span class={css.sub}>{t(s.kind === 'cookie' ? 'sessions.browser' : 'sessions.command')}</span>
        </>
      ),
    },
    ...(all ? [{ id: 'user', title: t('user.username'), sort: (s: SessionRow) => s.username, cell: (s: SessionRow) => s.username }] : []),
    { id: 'address', title: t('sessions.address'), sort: (s) => s.address, cell: (s) => s.address },
    { id: 'created', title: t('sessions.since'), nowrap: true, sort: (s) => s.created_at, cell: (s) => f.dateTime(s.created_at) },
    { id: 'seen', title: t('sessions.seen'), nowrap: true, sort: (s) => s.last_seen_at, cell: (s) => f.ago(s.last_seen_at, serverNow()) },
    {
      id: 'actions',
      title: t('table.actions'),
      hideTitle: true,
      cell: (s) =>
        !s.current && (
          <Button small busy={busy} aria-label={t('sessions.end_which', { where: agentName(s.user_agent), address: s.address })} onClick={() => end(s)}>
            {t('sessions.end')}
          </Button>
        ),
    },
  ];
}

export default function SessionsPage() {
  const query = place.value.query;
  const all = isAdmin.value && query.get('all') === '1';
  const sessions = useLoad(() => access.getSessions(all), [all]);
  const action = useAction(true);
  const end = (row: SessionRow): void =>
    void action.run(async () => {
      await access.deleteSession(row.id);
      toast(t('sessions.ended'), { tone: 'ok' });
      sessions.reload();
    });
  return (
    <Page title={t('nav.sessions')} lead={t('sessions.lead')}>
      {sessions.error && <Note tone="critical" live>{sessions.error}</Note>}
      {isAdmin.value && <Choice kind="checkbox" label={t('sessions.all')} checked={all} onChange={(on) => setQuery({ all: on ? '1' : undefined })} />}
      <Card flush>
        <Table
          caption={t('nav.sessions')}
          columns={columns(all, end, action.busy)}
          rows={sessions.value?.items ?? []}
          rowKey={(s) => s.id}
          sortBy={query.get('sort') ?? '-seen'}
          onSort={(sort) => setQuery({ sort })}
        />
      </Card>
    </Page>
  );
}
