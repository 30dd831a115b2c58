// Columnar history plus the live tail: what the charts draw.
//
// Live samples are gathered until a step is full and then become one point, their mean, so a point of a long range
// means the same whether it came from the box's history or from the stream.
import { unixSeconds } from './format';
import type { History, Sample } from './types';

export const metrics = ['cpu', 'mem_used_bytes', 'watts', 'temp_max_c', 'net_rx_bps', 'net_tx_bps'] as const;
export type Metric = (typeof metrics)[number];
export type Column = (number | null)[];

export interface Series {
  step: number;
  span: number; // seconds shown; old points fall off at the start
  t: number[];
  cols: Record<Metric, Column>;
}

export function fromHistory(history: History): Series {
  const column = (name: string): Column => {
    const at = history.names.indexOf(name);
    return at < 0 ? [] : [...(history.cols[at] ?? [])];
  };
  const t = column('t').map((v) => v ?? 0);
  const cols = {} as Record<Metric, Column>;
  for (const metric of metrics) {
    const found = column(metric);
    cols[metric] = found.length === t.length ? found : t.map(() => null);
  }
  const span = Math.max(1, unixSeconds(history.end) - unixSeconds(history.start));
  return { step: Math.max(1, history.step_s), span, t, cols };
}

export class LiveTail {
  #sums = new Map<Metric, { sum: number; n: number }>();

  // Returns a new series when a point was added, else the same one.
  add(series: Series, sample: Sample): Series {
    const at = unixSeconds(sample.t);
    const last = series.t.at(-1) ?? 0;
    if (at <= last) return series;
    for (const metric of metrics) {
      const value = sample[metric];
      if (value === null || value === undefined) continue;
      const cell = this.#sums.get(metric) ?? { sum: 0, n: 0 };
      cell.sum += value;
      cell.n += 1;
      this.#sums.set(metric, cell);
    }
    // Ticks are never exactly a second apart.
    if (at - last < series.step * 0.75) return series;
    const cut = series.t.findIndex((v) => v > at - series.span);
    const from = cut < 0 ? series.t.length : cut;
    const t = [...series.t.slice(from), at];
    const cols = {} as Record<Metric, Column>;
    for (const metric of metrics) {
      const cell = this.#sums.get(metric);
      cols[metric] = [...series.cols[metric].slice(from), cell ? cell.sum / cell.n : null];
    }
    this.#sums.clear();
    return { ...series, t, cols };
  }
}

export function toCsv(series: Series): string {
  const lines = [['time', ...metrics].join(',')];
  series.t.forEach((t, row) => {
    const cells = metrics.map((metric) => {
      const value = series.cols[metric][row];
      return value === null || value === undefined ? '' : String(value);
    });
    lines.push([new Date(t * 1000).toISOString(), ...cells].join(','));
  });
  return `${lines.join('\r\n')}\r\n`;
}
