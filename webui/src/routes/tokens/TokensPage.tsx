// API tokens for programs: made here, shown once, revoked at once.
import '../../messages/en-access';
import { useState } from 'preact/hooks';
import * as access from '../../lib/api-access';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { isAdmin, place, serverNow, toast } from '../../lib/stores';
import type { Token } from '../../lib/types';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Confirm } from '../../ui/Dialog';
import { EmptyState } from '../../ui/EmptyState';
import { Choice } from '../../ui/Field';
import { Page } from '../../ui/Page';
import { Problem } from '../../ui/Problem';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { NewToken } from './NewToken';
import css from '../users/users.module.css';

const weekMs = 7 * 86_400_000;

function Expiry({ token }: { token: Token }) {
  const left = f.unixSeconds(token.expires_at) * 1000 - serverNow();
  const tone = left <= 0 ? 'critical' : left < weekMs ? 'warning' : 'ok';
  const text = left <= 0 ? t('tokens.expired') : f.ago(token.expires_at, serverNow());
  return <Badge tone={tone} text={text} />;
}

function Revoke({ token, onDone, onClose }: { token: Token; onDone: () => void; onClose: () => void }) {
  const action = useAction();
  return (
    <Confirm
      title={t('tokens.revoke_title', { name: token.name })}
      action={t('tokens.revoke')}
      busy={action.busy}
      onClose={onClose}
      onConfirm={() =>
        void action.run(async () => {
          await access.deleteToken(token.id);
          toast(t('tokens.revoked', { name: token.name }), { tone: 'ok' });
          onDone();
        })
      }
    >
      <Problem error={action.error} />
      <p>{t('tokens.revoke_text')}</p>
    </Confirm>
  );
}

function columns(all: boolean, revoke: (token: Token) => void): Column<Token>[] {
  return [
    {
      id: 'name',
      title: t('tokens.name'),
      main: true,
      sort: (k) => k.name,
      cell: (k) => (
        <>
          {k.name}
          {k.cidr && <span class={css.sub}>{t('tokens.only_from', { cidr: k.cidr })}</span>}
        </>
      ),
    },
    ...(all ? [{ id: 'user', title: t('tokens.owner'), sort: (k: Token) => k.username, cell: (k: Token) => k.username }] : []),
    { id: 'scopes', title: t('tokens.scopes'), cell: (k) => f.join(k.scopes.map((scope) => t(`scope.${scope}`))) },
    { id: 'expires', title: t('tokens.expires'), sort: (k) => k.expires_at, cell: (k) => <Expiry token={k} /> },
    { id: 'used', title: t('tokens.used'), nowrap: true, sort: (k) => k.last_used_at, cell: (k) => (k.last_used_at ? f.ago(k.last_used_at, serverNow()) : t('users.never')) },
    {
      id: 'actions',
      title: t('table.actions'),
      hideTitle: true,
      cell: (k) => (
        <Button small aria-label={t('tokens.revoke_which', { name: k.name })} onClick={() => revoke(k)}>
          {t('tokens.revoke')}
        </Button>
      ),
    },
  ];
}

export default function TokensPage() {
  const query = place.value.query;
  const all = isAdmin.value && query.get('all') === '1';
  const tokens = useLoad(() => access.getTokens(all), [all]);
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<Token | null>(null);
  const rows = tokens.value?.items ?? [];
  const make = (
    <Button variant="primary" icon="plus" onClick={() => setMaking(true)}>
      {t('tokens.add')}
    </Button>
  );
  const close = (): void => {
    setMaking(false);
    setRevoking(null);
  };
  return (
    <Page title={t('nav.tokens')} lead={t('tokens.lead')} actions={make}>
      {tokens.error && <Note tone="critical" live>{tokens.error}</Note>}
      {isAdmin.value && <Choice kind="checkbox" label={t('tokens.all')} checked={all} onChange={(on) => setQuery({ all: on ? '1' : undefined })} />}
      <Card flush>
        {tokens.value && rows.length === 0 ? (
          <EmptyState icon="key" title={t('tokens.none')}>
            {t('tokens.none_text')}
          </EmptyState>
        ) : (
          <Table caption={t('nav.tokens')} columns={columns(all, setRevoking)} rows={rows} rowKey={(k) => k.id} sortBy={query.get('sort') ?? 'name'} onSort={(sort) => setQuery({ sort })} />
        )}
      </Card>
      {making && <NewToken onClose={close} onMade={tokens.reload} />}
      {revoking && (
        <Revoke
          token={revoking}
          onClose={close}
          onDone={() => {
            close();
            tokens.reload();
          }}
        />
      )}
    </Page>
  );
}
