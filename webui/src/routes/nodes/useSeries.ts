// History of one node for a range, followed by the live tail while `follow` holds.
import { useEffect, useRef } from 'preact/hooks';
import * as api from '../../lib/api';
import { fromHistory, LiveTail, metrics, type Series } from '../../lib/series';
import { recent } from '../../lib/stores';
import { useLoad } from '../../ui/useLoad';

export type Range = { range: string } | { from: string; to: string };

export function useSeries(node: string, range: Range, follow: boolean): { series: Series | null; error: string; reload: () => void } {
  const tail = useRef(new LiveTail());
  const key = 'range' in range ? range.range : `${range.from}/${range.to}`;
  const loaded = useLoad(async () => {
    const history = await api.getHistory({ node, metric: metrics.join(','), ...range });
    tail.current = new LiveTail();
    return { key, series: fromHistory(history) };
  }, [node, key]);
  const newest = recent.value.get(node)?.at(-1);
  const current = loaded.value;
  useEffect(() => {
    if (!follow || !newest || !current || current.key !== key) return;
    const next = tail.current.add(current.series, newest);
    if (next !== current.series) loaded.set({ key, series: next });
  }, [newest, follow]);
  return { series: current?.series ?? null, error: loaded.error, reload: loaded.reload };
}
