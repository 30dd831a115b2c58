// Curves between 0 and 1 on both axes, drawn as one drawing rather than on a canvas: they stand still, print sharp
// and take their colours from the page.
import css from '../models/models.module.css';

const size = 220;
const edge = { left: 34, bottom: 30, top: 6, right: 8 };
const x = (value: number): number => edge.left + value * size;
const y = (value: number): number => edge.top + (1 - value) * size;
const ticks = [0, 0.25, 0.5, 0.75, 1];

export type Point = readonly [number, number];
export const linePath = (points: readonly Point[]): string => points.map(([a, b], index) => `${index ? 'L' : 'M'}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join('');

interface SquareProps {
  label: string; // what it says in words
  across: string;
  up: string;
  line: readonly Point[];
  dots?: boolean;
  rest?: readonly Point[]; // what chance, or perfection, would give
  mark?: Point | null;
}

export function Square({ label, across, up, line, dots, rest, mark }: SquareProps) {
  return (
    <svg class={css.square} viewBox={`0 0 ${edge.left + size + edge.right} ${edge.top + size + edge.bottom}`} role="img" aria-label={label}>
      {ticks.map((at) => (
        <g key={at}>
          <path class={css.gridline} d={`M${x(at)} ${y(0)}V${y(1)}M${x(0)} ${y(at)}H${x(1)}`} />
          <text x={x(at)} y={y(0) + 13} text-anchor={at === 1 ? 'end' : 'middle'}>
            {at}
          </text>
          <text x={x(0) - 5} y={y(at) + 4} text-anchor="end">
            {at}
          </text>
        </g>
      ))}
      <text x={x(0.5)} y={y(0) + 27} text-anchor="middle">
        {across}
      </text>
      <text transform={`translate(9 ${y(0.5)}) rotate(-90)`} text-anchor="middle">
        {up}
      </text>
      {rest && <path class={css.restline} d={linePath(rest)} />}
      <path class={css.dataline} d={linePath(line)} />
      {dots && line.map(([a, b], index) => <circle key={index} class={css.dot} cx={x(a)} cy={y(b)} r="3" />)}
      {mark && <circle class={css.mark} cx={x(mark[0])} cy={y(mark[1])} r="5" />}
    </svg>
  );
}
