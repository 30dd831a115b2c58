// Every node in one row, with what matters at a glance. What can be done with it opens beneath.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { isAdmin, members, place, recent, recentMax } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import { Lazy } from '../../ui/Lazy';
import { Meter } from '../../ui/Meter';
import { Sparkline } from '../../ui/Sparkline';
import { Table, type Column } from '../../ui/Table';
import { isGone, NodeState } from './NodeState';
import css from './nodes.module.css';

const manage = () => import('./Manage');

function Bar({ used, total, label }: { used: number | null | undefined; total: number | null | undefined; label: string }) {
  if (used === null || used === undefined || !total) return <>–</>;
  return (
    <span class={css.bar}>
      <span>{f.percent(used / total)}</span>
      <Meter fraction={used / total} label={label} />
    </span>
  );
}

const diskOf = (n: BoxNode): { used: number | null; total: number | null } =>
  n.disk ? { used: n.disk.total - n.disk.free, total: n.disk.total } : { used: n.sample?.disk_used_bytes ?? null, total: n.sample?.disk_total_bytes ?? null };
// What was true when it was last heard is not true now.
const now = (n: BoxNode): BoxNode['sample'] => (isGone(n) ? null : n.sample);

const columns: readonly Column<BoxNode>[] = [
  {
    id: 'name',
    title: t('node.name'),
    main: true,
    sort: (n) => n.name,
    cell: (n) => (
      <>
        <a href={`/nodes/${encodeURIComponent(n.id)}`} translate={false}>
          {n.name}
        </a>
        <span class={css.sub}>{f.join([n.model, n.version])}</span>
        {n.self && members.value.total > 1 && <span class={css.here}>{t('node.here')}</span>}
      </>
    ),
  },
  { id: 'state', title: t('node.state'), sort: (n) => n.state, cell: (n) => <NodeState node={n} part /> },
  {
    id: 'watts',
    title: t('metric.power'),
    numeric: true,
    sort: (n) => now(n)?.watts ?? null,
    cell: (n) => (
      <>
        {f.watts(now(n)?.watts)}
        {typeof now(n)?.watts === 'number' && now(n)?.watts_estimated && <span class={css.sub}>{t('metric.estimated_short')}</span>}
      </>
    ),
  },
  {
    id: 'temp',
    title: t('metric.temperature'),
    numeric: true,
    sort: (n) => now(n)?.temp_max_c ?? null,
    cell: (n) => (
      <>
        {f.celsius(now(n)?.temp_max_c)}
        {now(n)?.temp_max_name && <span class={css.sub}>{now(n)?.temp_max_name}</span>}
      </>
    ),
  },
  {
    id: 'cpu',
    title: t('metric.cpu'),
    sort: (n) => now(n)?.cpu ?? null,
    cell: (n) =>
      isGone(n) ? (
        '–'
      ) : (
        <span class={css.spark}>
          <span>{f.percent(n.sample?.cpu)}</span>
          <Sparkline values={(recent.value.get(n.id) ?? []).map((s) => s.cpu)} slots={recentMax} max={1} />
        </span>
      ),
  },
  {
    id: 'mem',
    title: t('metric.memory'),
    sort: (n) => now(n)?.mem_used_bytes ?? null,
    cell: (n) => <Bar used={now(n)?.mem_used_bytes} total={now(n)?.mem_total_bytes} label={t('metric.memory')} />,
  },
  {
    id: 'disk',
    title: t('metric.disk'),
    sort: (n) => diskOf(n).used,
    cell: (n) => <Bar {...diskOf(n)} label={t('metric.disk')} />,
  },
  {
    id: 'net',
    title: t('metric.network'),
    numeric: true,
    sort: (n) => (now(n) ? (n.sample?.net_rx_bps ?? 0) + (n.sample?.net_tx_bps ?? 0) : null),
    cell: (n) =>
      now(n) ? (
        <>
          {t('metric.in', { rate: f.bitsPerSecond(n.sample?.net_rx_bps) })}
          <span class={css.sub}>{t('metric.out', { rate: f.bitsPerSecond(n.sample?.net_tx_bps) })}</span>
        </>
      ) : (
        '–'
      ),
  },
];

export function NodeTable({ rows }: { rows: readonly BoxNode[] }) {
  const admin = isAdmin.value;
  return (
    <Table
      caption={t('nav.nodes')}
      columns={columns}
      rows={rows}
      rowKey={(n) => n.id}
      dense
      faded={isGone}
      sortBy={place.value.query.get('sort') ?? 'name'}
      onSort={(sort) => setQuery({ sort })}
      expand={{
        title: t(admin ? 'node.manage' : 'node.more'),
        label: (n) => t(admin ? 'node.manage_what' : 'node.more_what', { name: n.name }),
        content: (n) => <Lazy load={manage} props={{ node: n }} />,
      }}
    />
  );
}
