// Sparklines begin full: what happened before the page was opened comes from the history, once per node.
import { useEffect } from 'preact/hooks';
import * as api from '../lib/api';
import { backfill, nodes, recent, recentMax } from '../lib/stores';
import type { Sample } from '../lib/types';

const names = ['cpu', 'mem_used_bytes', 'watts', 'temp_max_c', 'net_rx_bps', 'net_tx_bps'] as const;
const asked = new Set<string>();

async function fetchPast(node: string): Promise<void> {
  const template = recent.peek().get(node)?.[0];
  if (!template || asked.has(node) || (recent.peek().get(node)?.length ?? 0) > recentMax / 2) return;
  asked.add(node);
  const history = await api.getHistory({ node, metric: names.join(','), range: '5m' });
  const times = history.cols[history.names.indexOf('t')] ?? [];
  const past: Sample[] = times.map((t, row) => {
    const values = names.map((name) => [name, history.cols[history.names.indexOf(name)]?.[row] ?? null] as const);
    return { ...template, ...Object.fromEntries(values), t: t ?? 0 };
  });
  backfill(node, past);
}

export function useBackfill(): void {
  const ids = [...nodes.value.keys()].join(' ');
  useEffect(() => {
    for (const id of ids.split(' ').filter(Boolean)) void fetchPast(id).catch(() => undefined);
  }, [ids]);
}
