// Every node in one row, with what matters at a glance.
import * as f from '../../lib/format';
import { t, tMaybe } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { nodes, place, recent, recentMax, stale } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import { Badge } from '../../ui/Badge';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Meter } from '../../ui/Meter';
import { Page } from '../../ui/Page';
import { Sparkline } from '../../ui/Sparkline';
import { Table, type Column } from '../../ui/Table';
import { useBackfill } from '../../ui/useBackfill';
import css from './nodes.module.css';

function Bar({ used, total, label }: { used: number | null; total: number | null; label: string }) {
  const fraction = used !== null && total ? used / total : null;
  return (
    <span class={css.bar}>
      <span>{f.percent(fraction)}</span>
      <Meter fraction={fraction} label={label} />
    </span>
  );
}

export function NodeState({ state }: { state: string }) {
  return <Badge tone={state === 'up' ? 'ok' : 'critical'} text={tMaybe(`node.state.${state}`, state)} />;
}

const columns: readonly Column<BoxNode>[] = [
  {
    id: 'name',
    title: t('node.name'),
    main: true,
    sort: (n) => n.name,
    cell: (n) => (
      <>
        <a href={`/nodes/${encodeURIComponent(n.id)}`}>{n.name}</a>
        <span class={css.sub}>{n.model}</span>
      </>
    ),
  },
  { id: 'state', title: t('node.state'), sort: (n) => n.state, cell: (n) => <NodeState state={n.state} /> },
  {
    id: 'watts',
    title: t('metric.power'),
    numeric: true,
    sort: (n) => n.sample?.watts ?? null,
    cell: (n) => (
      <>
        {f.watts(n.sample?.watts)}
        {n.sample?.watts !== null && n.sample?.watts_estimated && <span class={css.sub}>{t('metric.estimated_short')}</span>}
      </>
    ),
  },
  {
    id: 'temp',
    title: t('metric.temperature'),
    numeric: true,
    sort: (n) => n.sample?.temp_max_c ?? null,
    cell: (n) => (
      <>
        {f.celsius(n.sample?.temp_max_c)}
        {n.sample?.temp_max_name && <span class={css.sub}>{n.sample.temp_max_name}</span>}
      </>
    ),
  },
  {
    id: 'cpu',
    title: t('metric.cpu'),
    sort: (n) => n.sample?.cpu ?? null,
    cell: (n) => (
      <span class={css.spark}>
        <span>{f.percent(n.sample?.cpu)}</span>
        <Sparkline values={(recent.value.get(n.id) ?? []).map((s) => s.cpu)} slots={recentMax} max={1} />
      </span>
    ),
  },
  {
    id: 'mem',
    title: t('metric.memory'),
    sort: (n) => n.sample?.mem_used_bytes ?? null,
    cell: (n) => n.sample && <Bar used={n.sample.mem_used_bytes} total={n.sample.mem_total_bytes} label={t('metric.memory')} />,
  },
  {
    id: 'disk',
    title: t('metric.disk'),
    sort: (n) => n.sample?.disk_used_bytes ?? null,
    cell: (n) => n.sample && <Bar used={n.sample.disk_used_bytes} total={n.sample.disk_total_bytes} label={t('metric.disk')} />,
  },
  {
    id: 'net',
    title: t('metric.network'),
    numeric: true,
    sort: (n) => (n.sample ? (n.sample.net_rx_bps ?? 0) + (n.sample.net_tx_bps ?? 0) : null),
    cell: (n) => (
      <>
        {t('metric.in', { rate: f.bitsPerSecond(n.sample?.net_rx_bps) })}
        <span class={css.sub}>{t('metric.out', { rate: f.bitsPerSecond(n.sample?.net_tx_bps) })}</span>
      </>
    ),
  },
];

export default function NodesPage() {
  useBackfill();
  const rows = [...nodes.value.values()];
  return (
    <Page title={t('nav.nodes')} lead={t('nodes.lead')}>
      <div data-stale={stale.value || undefined} class={css.fade}>
        <Card flush>
          {rows.length === 0 ? (
            <EmptyState icon="nodes" title={t('overview.reading')} />
          ) : (
            <Table
              caption={t('nav.nodes')}
              columns={columns}
              rows={rows}
              rowKey={(n) => n.id}
              sortBy={place.value.query.get('sort') ?? 'name'}
              onSort={(sort) => setQuery({ sort })}
            />
          )}
        </Card>
      </div>
      {rows.length === 1 && <Note tone="info">{t('nodes.alone')}</Note>}
    </Page>
  );
}
