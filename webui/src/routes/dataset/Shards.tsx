// Where the pieces of a data set lie: shards down, nodes across, and in a sentence what that is worth.
import { getShards } from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { datasetsChanged } from '../../lib/stores';
import type { DatasetDetail, ShardMap } from '../../lib/types-data';
import { Badge } from '../../ui/Badge';
import { Card, Note } from '../../ui/Card';
import { Icon } from '../../ui/Icon';
import { Table, type Column } from '../../ui/Table';
import { useLoad } from '../../ui/useLoad';
import css from './dataset.module.css';

type Shard = ShardMap['items'][number];

export function nodesOf(map: ShardMap): { id: string; name: string }[] {
  const all = new Map(map.items.flatMap((shard) => shard.nodes.map((node) => [node.id, node] as const)));
  return [...all.values()].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
}

function Place({ on }: { on: boolean }) {
  return on ? (
    <span class={css.here}>
      <Icon name="check" size={16} />
      <span class="visually-hidden">{t('shards.here')}</span>
    </span>
  ) : (
    <span class={css.absent}>
      –<span class="visually-hidden">{t('shards.not_here')}</span>
    </span>
  );
}

export function Shards({ set }: { set: DatasetDetail }) {
  const loaded = useLoad(() => getShards(set.id), [set.id, set.revision, datasetsChanged.value]);
  const map = loaded.value;
  const columns: Column<Shard>[] = [
    { id: 'number', title: t('shards.shard'), main: true, sort: (shard) => shard.number, cell: (shard) => t('shards.number', { number: f.number(shard.number) }) },
    { id: 'rows', title: t('dataset.rows'), numeric: true, sort: (shard) => shard.rows, cell: (shard) => f.number(shard.rows) },
    { id: 'size', title: t('dataset.size'), numeric: true, sort: (shard) => shard.stored_bytes, cell: (shard) => f.bytes(shard.stored_bytes) },
    { id: 'copies', title: t('shards.copies'), numeric: true, sort: (shard) => shard.nodes.length, cell: (shard) => f.number(shard.nodes.length) },
    ...(map ? nodesOf(map) : []).map(
      (node): Column<Shard> => ({ id: node.id, title: node.name, named: true, cell: (shard) => <Place on={shard.nodes.some((one) => one.id === node.id)} /> }),
    ),
    {
      id: 'state',
      title: t('dataset.state'),
      sort: (shard) => (shard.damaged ? 0 : 1),
      cell: (shard) => (shard.damaged ? <Badge tone="critical" text={t('dataset.damaged')} /> : <Badge tone="ok" text={t('shards.sound')} />),
    },
  ];
  return (
    <Card flush title={t('shards.title')}>
      <div class={css.text}>
        {loaded.error && (
          <Note tone="critical" live>
            {loaded.error}
          </Note>
        )}
        {map && <Note tone={map.tolerates > 0 ? 'ok' : 'info'}>{map.tolerates > 0 ? t('shards.tolerates', { count: map.tolerates, copies: f.number(map.copies) }) : t('shards.alone')}</Note>}
      </div>
      {map && <Table caption={t('shards.title')} columns={columns} rows={map.items} rowKey={(shard) => shard.number} sortBy="number" />}
    </Card>
  );
}
