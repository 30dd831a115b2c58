// Where the pieces of a data set lie: shards down, nodes across, and in a sentence what that is worth. Pieces that
// move while somebody looks are marked where they arrive.
import { useEffect, useRef, useState } from 'preact/hooks';
import { getShards, patchDataset } from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { datasetsChanged, nodes, toast } from '../../lib/stores';
import type { DatasetDetail, Holder, ShardMap } from '../../lib/types-data';
import { Badge } from '../../ui/Badge';
import { Card, Note } from '../../ui/Card';
import { Select } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { arrived, nodesOf, verdict } from './shard-map';
import css from './dataset.module.css';

type Shard = ShardMap['items'][number];
const copiesMax = 7;

function Place({ holder, fresh }: { holder: Holder | undefined; fresh: boolean }) {
  if (!holder) {
    return (
      <span class={css.absent}>
        –<span class="visually-hidden">{t('shards.not_here')}</span>
      </span>
    );
  }
  const away = holder.state === 'unreachable';
  return (
    <span class={css.here} data-holder={holder.state} data-fresh={fresh || undefined}>
      <Icon name={away ? 'off' : holder.state === 'draining' ? 'logout' : 'check'} size={16} />
      <span class="visually-hidden">{t(away ? 'shards.cut_off' : holder.state === 'draining' ? 'shards.leaving' : 'shards.here')}</span>
      {fresh && <small>{t('shards.new')}</small>}
    </span>
  );
}

function State({ shard, wanted }: { shard: Shard; wanted: number }) {
  if (shard.damaged) return <Badge tone="critical" text={t('dataset.damaged')} />;
  const reachable = shard.nodes.filter((node) => node.state !== 'unreachable').length;
  if (reachable === 0) return <Badge tone="critical" text={t('shards.lost')} />;
  return reachable < wanted ? <Badge tone="warning" text={t('shards.few')} /> : <Badge tone="ok" text={t('shards.sound')} />;
}

function CopiesChoice({ set, etag, wanted, onDone }: { set: DatasetDetail; etag: string; wanted: number; onDone: () => void }) {
  const action = useAction(true);
  const choose = (value: string): void =>
    void action.run(async () => {
      await patchDataset(set.id, { copies: Number(value) }, etag);
      toast(t('shards.changed', { name: set.name }), { tone: 'ok' });
      onDone();
    });
  const auto = set.copies ? t('shards.auto_plain') : t('shards.auto', { count: wanted });
  return (
    <div class={css.version}>
      <Select
        label={t('shards.wanted')}
        hint={t('shards.choice_hint')}
        value={String(set.copies ?? 0)}
        onChange={choose}
        options={[{ value: '0', label: auto }, ...Array.from({ length: copiesMax }, (_, n) => ({ value: String(n + 1), label: t('shards.choice', { count: n + 1 }) }))]}
      />
    </div>
  );
}

export function Shards({ set, etag, mayChange, onChange }: { set: DatasetDetail; etag: string; mayChange: boolean; onChange: () => void }) {
  const loaded = useLoad(() => getShards(set.id), [set.id, set.revision, datasetsChanged.value]);
  const map = loaded.value;
  const before = useRef<ShardMap | null>(null);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (!map) return;
    const found = arrived(before.current, map);
    before.current = map;
    // Marks stay until the next move, so that nobody has to look at the right moment.
    if (found.size > 0) setFresh(found);
  }, [map]);
  const across = map ? nodesOf(map, [...nodes.value.values()]) : [];
  const wanted = map?.copies_wanted ?? map?.copies ?? 1;
  const columns: Column<Shard>[] = [
    { id: 'number', title: t('shards.shard'), main: true, nowrap: true, sort: (shard) => shard.number, cell: (shard) => t('shards.number', { number: f.number(shard.number) }) },
    { id: 'rows', title: t('dataset.rows'), numeric: true, sort: (shard) => shard.rows, cell: (shard) => f.number(shard.rows) },
    { id: 'size', title: t('dataset.size'), numeric: true, sort: (shard) => shard.stored_bytes, cell: (shard) => f.bytes(shard.stored_bytes) },
    {
      id: 'copies',
      title: t('shards.copies'),
      numeric: true,
      sort: (shard) => shard.nodes.length,
      cell: (shard) => t('shards.few_of', { now: f.number(shard.nodes.filter((node) => node.state !== 'unreachable').length), wanted: f.number(wanted) }),
    },
    { id: 'state', title: t('dataset.state'), sort: (shard) => (shard.damaged ? 0 : shard.nodes.length), cell: (shard) => <State shard={shard} wanted={wanted} /> },
    ...across.map(
      (node): Column<Shard> => ({
        id: node.id,
        title: node.name,
        named: true,
        cell: (shard) => <Place holder={shard.nodes.find((one) => one.id === node.id)} fresh={fresh.has(`${shard.number} ${node.id}`)} />,
      }),
    ),
  ];
  const told = map && verdict(map, across.length);
  return (
    <Card flush title={t('shards.title')}>
      <div class={css.text}>
        {loaded.error && (
          <Note tone="critical" live>
            {loaded.error}
          </Note>
        )}
        {told && (
          <Note tone={told.tone} live>
            {t(told.key, { count: map.may_lose, copies: f.number(map.copies_now), now: f.number(map.copies_now), wanted: f.number(wanted) })}
          </Note>
        )}
        {map && mayChange && <CopiesChoice set={set} etag={etag} wanted={wanted} onDone={onChange} />}
      </div>
      {map && <Table caption={t('shards.title')} columns={columns} rows={map.items} rowKey={(shard) => shard.number} sortBy="number" dense />}
    </Card>
  );
}
