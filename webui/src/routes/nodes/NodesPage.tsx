// All nodes: how each is doing, what can be done with it, and the same charts for all of them.
import '../../messages/en-nodes';
import { json } from '../../lib/api';
import { t } from '../../lib/messages';
import { isAdmin, members, nodes, peersChanged, stale } from '../../lib/stores';
import type { Peers } from '../../lib/types-cluster';
import { LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Page } from '../../ui/Page';
import { compare } from '../../ui/Table';
import { useBackfill } from '../../ui/useBackfill';
import { useLoad } from '../../ui/useLoad';
import { Charts } from './Charts';
import { NodeTable } from './NodeTable';
import css from './nodes.module.css';

// A box that can be added is worth knowing here, too.
function Waiting() {
  const peers = useLoad(() => json<Peers>('GET', '/peers', { quiet: true }), [peersChanged.value]);
  const count = peers.value?.items.filter((peer) => peer.state === 'waiting' || peer.state === 'code_needed').length ?? 0;
  if (count === 0) return null;
  return (
    <Note tone="info" live>
      {t('nodes.waiting', { count })} <a href="/peers">{t('nodes.see_waiting')}</a>
    </Note>
  );
}

export default function NodesPage() {
  useBackfill();
  const rows = [...nodes.value.values()].sort((a, b) => compare(a.name, b.name));
  const present = rows.filter((node) => node.state !== 'removed');
  const total = members.value.total;
  return (
    <Page
      title={t('nav.nodes')}
      lead={t('nodes.lead')}
      actions={
        isAdmin.value && (
          <>
            <LinkButton icon="shield" href="/doctor">
              {t('nodes.doctor')}
            </LinkButton>
            <LinkButton variant="primary" icon="plus" href="/peers">
              {t('nodes.add')}
            </LinkButton>
          </>
        )
      }
    >
      {isAdmin.value && <Waiting />}
      <div data-stale={stale.value || undefined} class={css.fade}>
        <Card flush>{rows.length === 0 ? <EmptyState icon="nodes" title={t('nodes.reading')} /> : <NodeTable rows={rows} />}</Card>
      </div>
      {total === 1 && (
        <Note tone="info">
          {t('nodes.alone')} {isAdmin.value && <a href="/peers">{t('nodes.add')}</a>}
        </Note>
      )}
      {total === 2 && <Note tone="info">{t('nodes.two')}</Note>}
      {present.length > 0 && (
        <>
          <h2>{t('nodes.charts')}</h2>
          <Charts nodes={present} />
        </>
      )}
    </Page>
  );
}
