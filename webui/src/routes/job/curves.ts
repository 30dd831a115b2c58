// The numbers behind a job's curves: grouped into charts, smoothed, cut to what is looked at.
import type { Columnar } from '../../lib/types-models';

export const along = ['step', 'seconds', 'rows'] as const;
export type Along = (typeof along)[number];
export const smoothMax = 0.99;
// More points than a screen has columns only cost time.
const pointsMax = 4000;

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
    if ((along as readonly string[]).includes(name) || !cols[index]?.some((value) => value !== null)) return;
    const group = name.replace(/^(train|valid|test)_/, '');
    found.set(group, [...(found.get(group) ?? []), { name, values: cols[index] }]);
  });
  const order = (name: string): number => (name === 'loss' ? 0 : name === 'auc' ? 1 : name === 'rate' ? 3 : 2);
  return [...found].map(([name, curves]) => ({ name, curves })).sort((a, b) => order(a.name) - order(b.name));
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
