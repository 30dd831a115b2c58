// The box as one number each: sums and means over its nodes, now and over the last two minutes.
import type { BoxNode, Sample } from '../../lib/types';

export interface Total {
  watts: number | null;
  estimated: boolean;
  cpu: number | null;
  memUsed: number | null;
  memTotal: number | null;
  hottest: number | null;
  hottestName: string;
  rx: number | null;
  tx: number | null;
}

function sum(values: (number | null)[]): number | null {
  const known = values.filter((v): v is number => v !== null);
  return known.length ? known.reduce((a, b) => a + b, 0) : null;
}

export function total(samples: readonly Sample[]): Total {
  const hot = samples.reduce<Sample | null>((best, s) => (s.temp_max_c !== null && (best === null || s.temp_max_c > (best.temp_max_c ?? -300)) ? s : best), null);
  const cpu = sum(samples.map((s) => s.cpu));
  return {
    watts: sum(samples.map((s) => s.watts)),
    estimated: samples.some((s) => s.watts !== null && s.watts_estimated),
    cpu: cpu === null ? null : cpu / samples.length,
    memUsed: sum(samples.map((s) => s.mem_used_bytes)),
    memTotal: sum(samples.map((s) => s.mem_total_bytes)),
    hottest: hot?.temp_max_c ?? null,
    hottestName: hot?.temp_max_name ?? '',
    rx: sum(samples.map((s) => s.net_rx_bps)),
    tx: sum(samples.map((s) => s.net_tx_bps)),
  };
}

// Rows of the same age, oldest first; a node that joined late is missing from the older rows.
export function totals(recent: ReadonlyMap<string, readonly Sample[]>): Total[] {
  const lists = [...recent.values()];
  const length = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length }, (_, row) => {
    const back = length - row;
    return total(lists.flatMap((list) => list.at(-back) ?? []));
  });
}

export const latest = (nodes: Iterable<BoxNode>): Total => total([...nodes].flatMap((node) => (node.state === 'unreachable' || node.state === 'removed' ? [] : (node.sample ?? []))));
