// The numbers behind a job's curves: grouped into charts, smoothed, cut to what is looked at.
import type { Columnar, WorkerCurves } from '../../lib/types-models';

export const along = ['step', 'seconds', 'rows', 'joules'] as const;
export type Along = (typeof along)[number];
export const smoothMax = 0.99;
// More points than a screen has columns only cost time.
const pointsMax = 4000;

// Counters of a worker: shown per node, not as curves of the job.
const counters = new Set(['bytes_sent', 'bytes_received', 'wait_seconds', 'exchange_seconds', 'staleness', 'round', 'tau', 'workers', 'watts', 'samples_per_second', 'read_seconds', 'decrypt_seconds', 'data_wait_seconds', 'encode_seconds', 'step_seconds', 'tell_seconds', 'exchange_work_seconds']);
// What is drawn per node, in this order.
export const perNode = ['train_loss', 'samples_per_second', 'watts', 'joules', 'bytes_sent', 'wait_seconds'] as const;
export type PerNode = (typeof perNode)[number];

export interface Curve {
  name: string; // as the box names it
  values: (number | null)[];
}
export interface CurveGroup {
  name: string; // "loss", "auc", …
  curves: Curve[];
}

// Training and validation of the same measure share a chart; the loss comes first.
export function groups({ names, cols }: Columnar): CurveGroup[] {
  const found = new Map<string, Curve[]>();
  names.forEach((name, index) => {
    if ((along as readonly string[]).includes(name) || counters.has(name) || !cols[index]?.some((value) => value !== null)) return;
    const group = name.replace(/^(train|valid|test)_/, '');
    found.set(group, [...(found.get(group) ?? []), { name, values: cols[index] }]);
  });
  const order = (name: string): number => (name === 'loss' ? 0 : name === 'auc' ? 1 : name === 'rate' ? 3 : 2);
  return [...found].map(([name, curves]) => ({ name, curves })).sort((a, b) => order(a.name) - order(b.name));
}

// One measure of several workers on a common axis, and their mean. A worker counts in the mean from its first point
// on, with the last it told; its line has gaps where only others told something.
export interface NodeCurves {
  x: number[];
  curves: (number | null)[][]; // in the order of the workers
  mean: (number | null)[];
}
export function byNode(list: readonly WorkerCurves[], name: string, axis: Along): NodeCurves {
  const told = list.map((one) => {
    const xs = one.cols[one.names.indexOf(axis)] ?? [];
    const ys = one.cols[one.names.indexOf(name)] ?? [];
    const at = new Map<number, number>();
    xs.forEach((x, index) => {
      const y = ys[index];
      if (x !== null && y !== null && y !== undefined) at.set(x, y);
    });
    return at;
  });
  const x = [...new Set(told.flatMap((at) => [...at.keys()]))].sort((a, b) => a - b);
  const last: (number | undefined)[] = told.map(() => undefined);
  const mean: (number | null)[] = [];
  for (const place of x) {
    told.forEach((at, index) => (last[index] = at.get(place) ?? last[index]));
    const known = last.filter((value): value is number => value !== undefined);
    mean.push(known.reduce((sum, value) => sum + value, 0) / known.length);
  }
  return { x, curves: told.map((at) => x.map((place) => at.get(place) ?? null)), mean };
}

// A point of a worker; one that was not known until now is added.
export function withWorkerPoint(list: readonly WorkerCurves[], who: Pick<WorkerCurves, 'number' | 'node_id'>, names: readonly string[], values: readonly (number | null)[]): WorkerCurves[] {
  const known = list.find((one) => one.number === who.number);
  const next = { ...who, node_id: who.node_id || (known?.node_id ?? ''), ...withPoint(known ?? { names: [], cols: [] }, names, values) };
  return known ? list.map((one) => (one === known ? next : one)) : [...list, next].sort((a, b) => a.number - b.number);
}

// A new point at the end; one that is known already is taken once.
export function withPoint(all: Columnar, names: readonly string[], values: readonly (number | null)[]): Columnar {
  const point = new Map(names.map((name, index) => [name, values[index] ?? null]));
  const steps = all.cols[all.names.indexOf('step')] ?? [];
  const step = point.get('step');
  if (typeof step === 'number' && steps.length > 0 && step <= (steps.at(-1) ?? -1)) return all;
  const more = names.filter((name) => !all.names.includes(name));
  const length = all.cols[0]?.length ?? 0;
  const cols = [...all.cols, ...more.map(() => Array.from<null>({ length }).fill(null))];
  const allNames = [...all.names, ...more];
  return { names: allNames, cols: allNames.map((name, index) => [...cols[index]!, point.get(name) ?? null].slice(-pointsMax)) };
}

// Exponential smoothing without the pull towards zero at the beginning.
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  const w = Math.min(smoothMax, Math.max(0, weight));
  if (w === 0) return [...values];
  let sum = 0;
  let mass = 0;
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return null;
    sum = sum * w + value * (1 - w);
    mass = mass * w + (1 - w);
    return sum / mass;
  });
}

// Points within [from, to] of the chosen axis; gaps in that axis are left out.
export function within(x: readonly (number | null)[], range: readonly [number, number] | null): number[] {
  const keep: number[] = [];
  x.forEach((value, index) => {
    if (value !== null && (!range || (value >= range[0] && value <= range[1]))) keep.push(index);
  });
  return keep;
}
