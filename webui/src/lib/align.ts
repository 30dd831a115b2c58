// Series of several nodes on one axis of time. Each node counts its seconds by itself, so points are put into steps
// of equal length. One empty step between two points is the jitter of a clock and takes the point before it; a longer
// silence is a gap in the line, never a guess.
import type { Column, Metric, Series } from './series';

export interface Aligned {
  t: number[];
  values: (metric: Metric) => Column[]; // one column per series, in their order
}

export function align(list: readonly Series[]): Aligned {
  const step = Math.max(1, ...list.map((series) => series.step));
  const slotOf = (t: number): number => Math.round(t / step);
  const slots = [...new Set(list.flatMap((series) => series.t.map(slotOf)))].sort((a, b) => a - b);
  const at = new Map(slots.map((slot, index) => [slot, index]));
  return {
    t: slots.map((slot) => slot * step),
    values: (metric) =>
      list.map((series) => {
        const column: Column = slots.map(() => null);
        series.t.forEach((t, row) => {
          const value = series.cols[metric][row];
          // Of two points in one step the later one stays; a gap never covers a value.
          if (value !== null && value !== undefined) column[at.get(slotOf(t))!] = value;
        });
        column.forEach((value, slot) => {
          const before = column[slot - 1] ?? null;
          const next = slots[slot - 1] === (slots[slot] ?? 0) - 1;
          if (value === null && before !== null && next && (column[slot + 1] ?? null) !== null) column[slot] = before;
        });
        return column;
      }),
  };
}
