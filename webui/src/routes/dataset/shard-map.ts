// What a shard map says, apart from how it is drawn.
import type { BoxNode } from '../../lib/types';
import type { ShardMap } from '../../lib/types-data';

interface Named {
  id: string;
  name: string;
}

// Every node that holds something or could, once, by name.
export function nodesOf(map: ShardMap, members: readonly BoxNode[] = []): Named[] {
  const all = new Map<string, Named>();
  for (const node of members) if (node.state !== 'removed') all.set(node.id, { id: node.id, name: node.name });
  for (const shard of map.items) for (const { id, name } of shard.nodes) if (!all.has(id)) all.set(id, { id, name });
  return [...all.values()].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
}

// "shard node" of every copy that was not there before. The first look has no before.
export function arrived(before: ShardMap | null, now: ShardMap): ReadonlySet<string> {
  if (!before) return new Set();
  const places = (map: ShardMap): string[] => map.items.flatMap((shard) => shard.nodes.map((node) => `${shard.number} ${node.id}`));
  const known = new Set(places(before));
  return new Set(places(now).filter((place) => !known.has(place)));
}

type Verdict = { tone: 'ok' | 'info' | 'warning' | 'critical'; key: 'shards.tolerates' | 'shards.alone' | 'shards.one_copy' | 'shards.moving' | 'shards.waiting' | 'shards.unreachable' };

export function verdict(map: ShardMap, nodes: number): Verdict {
  const { copies_now: now, copies_wanted: wanted } = map;
  if (now === 0 && map.items.length > 0) return { tone: 'critical', key: 'shards.unreachable' };
  if (nodes < 2) return { tone: 'info', key: 'shards.alone' };
  if (now < wanted) return { tone: 'warning', key: wanted > nodes && now >= nodes ? 'shards.waiting' : 'shards.moving' };
  return map.may_lose > 0 ? { tone: 'ok', key: 'shards.tolerates' } : { tone: 'info', key: 'shards.one_copy' };
}
