// The last two minutes of one value as a small line. Decoration beside a number, so it is hidden from readers.
import css from './Sparkline.module.css';

const width = 120;
const height = 32;

interface SparklineProps {
  values: readonly (number | null)[];
  max?: number; // a fixed top, where one is known; else the highest value
  slots: number; // how many values fill the width
  tone?: 1 | 2 | 3 | 4;
}

// Exported for the tests: the points of the line, newest at the right edge.
export function sparkPath(values: readonly (number | null)[], slots: number, max?: number): string {
  const known = values.filter((v): v is number => v !== null && Number.isFinite(v));
  const top = max ?? Math.max(1e-9, ...known) * 1.15;
  const step = width / Math.max(1, slots - 1);
  let path = '';
  let pen = 'M';
  values.forEach((value, index) => {
    if (value === null || !Number.isFinite(value)) {
      pen = 'M';
      return;
    }
    const x = width - (values.length - 1 - index) * step;
    const y = height - 2 - (Math.min(value, top) / top) * (height - 4);
    path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = 'L';
  });
  return path;
}

export function Sparkline({ values, max, slots, tone = 1 }: SparklineProps) {
  const path = sparkPath(values, slots, max);
  return (
    <svg class={`${css.spark} ${css[`tone${tone}`]}`} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <path class={css.base} d={`M0 ${height - 1}H${width}`} />
      {path && <path class={css.line} d={path} />}
    </svg>
  );
}
