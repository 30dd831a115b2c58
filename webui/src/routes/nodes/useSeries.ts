// History of one node or several for a range, followed by their live tails while `follow` holds.
import { useEffect, useRef } from 'preact/hooks';
import * as api from '../../lib/api';
import { fromHistory, LiveTail, metrics, type Series } from '../../lib/series';
import { recent } from '../../lib/stores';
import { useLoad } from '../../ui/useLoad';

export type Range = { range: string } | { from: string; to: string };

const againMs = 5000;

interface Past {
  key: string;
  series: ReadonlyMap<string, Series>;
  missing: readonly string[]; // nodes that could not be asked
}

// A node that could not be asked begins with nothing, in the steps of the others.
function empty(like: Series | undefined): Series {
  return { step: like?.step ?? 1, span: like?.span ?? 300, t: [], cols: Object.fromEntries(metrics.map((metric) => [metric, []])) as unknown as Series['cols'] };
}

// Fails only when nobody answered.
export function useSeries(ids: readonly string[], range: Range, follow: boolean): { past: Past | null; error: string; reload: () => void } {
  const tails = useRef(new Map<string, LiveTail>());
  const key = `${Object.values(range).join('/')} ${ids.join(' ')}`;
  const loaded = useLoad(async (): Promise<Past> => {
    const answers = await Promise.allSettled(ids.map((node) => api.getHistory({ node, metric: metrics.join(','), ...range })));
    const found = answers.map((answer) => (answer.status === 'fulfilled' ? fromHistory(answer.value) : null));
    const like = found.find((series) => series !== null);
    const refused = answers.find((answer) => answer.status === 'rejected');
    if (!like && refused) throw refused.reason;
    tails.current = new Map(ids.map((node) => [node, new LiveTail()]));
    return { key, series: new Map(ids.map((node, n) => [node, found[n] ?? empty(like ?? undefined)])), missing: ids.filter((_, n) => !found[n]) };
  }, [key]);
  const past = loaded.value?.key === key ? loaded.value : null;
  // A box that was busy for a moment is asked again by itself.
  useEffect(() => {
    if (!loaded.error || loaded.loading || !follow) return;
    const timer = setTimeout(loaded.reload, againMs);
    return () => clearTimeout(timer);
  }, [loaded.error, loaded.loading, follow]);
  const newest = recent.value;
  useEffect(() => {
    if (!follow || !past) return;
    let moved = false;
    const series = new Map(past.series);
    for (const id of ids) {
      const sample = newest.get(id)?.at(-1);
      const before = series.get(id);
      const after = sample && before && tails.current.get(id)?.add(before, sample);
      if (!after || after === before) continue;
      series.set(id, after);
      moved = true;
    }
    if (moved) loaded.set({ ...past, series });
  }, [newest, follow]);
  return { past, error: loaded.error, reload: loaded.reload };
}
