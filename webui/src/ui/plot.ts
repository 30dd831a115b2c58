// The only place that knows uPlot; loaded when a chart is first shown.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { dayMonth, time } from '../lib/format';
import { lookOf } from './look';

export interface PlotSeries {
  label: string;
  values: (number | null)[];
  look?: number; // keeps its colour and dash whatever else is shown; else its place in the list
}
export interface PlotOptions {
  width: number;
  height: number;
  group: string; // charts of one group share their cursor
  format: (value: number | null | undefined) => string;
  max?: number; // fixed top of the scale
  soft?: number; // the scale reaches at least this far
  fit?: 'linear' | 'log'; // the scale begins and ends with the values
  x?: (value: number) => string; // along the bottom are these, not times
  steps?: number[]; // and marks are so far apart
  colours: string[];
  grid: string;
  text: string;
  binary?: boolean; // bytes: steps by powers of two
  onCursor: (index: number | null) => void;
  onSelect?: (from: number, to: number) => void;
}

// One dash pattern per series, so that colour is never the only difference.
const dashes: readonly number[][] = [[], [7, 4], [2, 3], [10, 4, 2, 4]];

const minute = 60;
const hour = 3600;
const day = 86_400;
const timeSteps = [1, 5, 10, 15, 30, minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 2 * day, 5 * day, 10 * day];
const byteSteps = Array.from({ length: 51 }, (_, n) => 2 ** n);

function ticks(values: number[]): string[] {
  const span = (values.at(-1) ?? 0) - (values[0] ?? 0);
  const step = values.length > 1 ? values[1]! - values[0]! : 60;
  return values.map((v) => (step >= 86_400 || span > 4 * 86_400 ? dayMonth(v) : time(v, step < 60)));
}

export class Plot {
  #plot: uPlot;

  constructor(root: HTMLElement, t: number[], series: PlotSeries[], options: PlotOptions) {
    const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
    const axis = { stroke: options.text, font, grid: { stroke: options.grid, width: 1 }, ticks: { show: false } };
    this.#plot = new uPlot(
      {
        width: options.width,
        height: options.height,
        legend: { show: false },
        padding: [8, 28, 0, 4],
        cursor: {
          sync: { key: options.group },
          drag: { x: !!options.onSelect, y: false, setScale: false },
          points: { size: 7 },
        },
        scales: {
          x: { time: !options.x },
          y: options.fit ? { distr: options.fit === 'log' ? 3 : 1 } : { range: (_, low, high) => [Math.min(0, low ?? 0), options.max ?? Math.max(options.soft ?? 0, (high ?? 0) * 1.1, 1e-6)] },
        },
        axes: [
          { ...axis, size: 28, space: 64, ...(options.x ? { incrs: options.steps, values: (_, values) => values.map(options.x!) } : { incrs: timeSteps, values: (_, values) => ticks(values) }) },
          { ...axis, size: 72, space: 30, ...(options.binary ? { incrs: byteSteps } : {}), values: (_, values: (number | null)[]) => values.map((v) => (v === null ? '' : options.format(v))) },
        ],
        series: [
          {},
          ...series.map((one, index) => ({
            label: one.label,
            stroke: options.colours[lookOf(one.look ?? index).colour],
            width: 1.6,
            dash: dashes[lookOf(one.look ?? index).dash],
            ...(options.fit ? {} : { points: { show: false } }),
            spanGaps: !!options.fit,
          })),
        ],
        hooks: {
          setCursor: [(self) => options.onCursor(self.cursor.idx ?? null)],
          setSelect: [
            (self) => {
              if (self.select.width < 8 || !options.onSelect) return;
              const from = self.posToVal(self.select.left, 'x');
              const to = self.posToVal(self.select.left + self.select.width, 'x');
              self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              options.onSelect(from, to);
            },
          ],
        },
      },
      [t, ...series.map((one) => one.values)],
      root,
    );
  }

  setData(t: number[], series: PlotSeries[]): void {
    this.#plot.setData([t, ...series.map((one) => one.values)]);
  }
  setWidth(width: number, height: number): void {
    this.#plot.setSize({ width, height });
  }
  destroy(): void {
    this.#plot.destroy();
  }
}
