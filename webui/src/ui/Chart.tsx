// A time chart that can also be read: the picture says its latest values in words, and a switch shows the table.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { t } from '../lib/messages';
import { resolvedTheme } from '../lib/stores';
import type { Plot, PlotSeries } from './plot';
import { Button } from './Button';
import { Lazy } from './Lazy';
import { lookOf } from './look';
import css from './Chart.module.css';

export interface ChartProps {
  title: string;
  note?: string;
  group: string;
  times: number[];
  series: PlotSeries[];
  named?: boolean; // the labels are names: never translated
  format: (value: number | null | undefined) => string;
  max?: number;
  soft?: number;
  fit?: 'linear' | 'log';
  x?: { title: string; format: (value: number) => string; steps?: number[] }; // along the bottom, instead of time
  binary?: boolean;
  stale?: boolean;
  onSelect?: (from: number, to: number) => void;
}

const table = () => import('./ChartTable');
const height = 180;
const dashArray = ['', '7 4', '2 3', '10 4 2 4'];

function lastKnown(values: readonly (number | null)[]): number | null {
  for (let i = values.length - 1; i >= 0; i -= 1) if (values[i] !== null && values[i] !== undefined) return values[i]!;
  return null;
}

// What the picture says to somebody who cannot see it.
export function describe(title: string, series: readonly PlotSeries[], format: ChartProps['format']): string {
  const parts = series.map((one) => {
    const known = one.values.filter((v): v is number => v !== null);
    if (known.length === 0) return t('chart.none', { series: one.label });
    const min = known.reduce((a, b) => Math.min(a, b));
    const max = known.reduce((a, b) => Math.max(a, b));
    return t('chart.latest', { series: one.label, latest: format(known.at(-1)), min: format(min), max: format(max) });
  });
  return `${title}. ${parts.join(' ')}`;
}

function colours(): { list: string[]; grid: string; text: string } {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  return { list: [1, 2, 3, 4].map((n) => value(`--chart-${n}`)), grid: value('--grid'), text: value('--muted') };
}

function Canvas(props: ChartProps & { onCursor: (index: number | null) => void }) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const shade = resolvedTheme.value;
  useEffect(() => {
    // Taken now: by the time the observer fires the reference may be gone.
    const element = host.current;
    if (!element) return;
    let gone = false;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.current?.setWidth(element.clientWidth, height);
    });
    void import('./plot').then(({ Plot: Drawing }) => {
      if (gone) return;
      const now = latest.current;
      const { list, grid, text } = colours();
      plot.current = new Drawing(element, now.times, now.series, {
        width: element.clientWidth || 320,
        height,
        group: now.group,
        format: now.format,
        max: now.max,
        soft: now.soft,
        fit: now.fit,
        x: now.x?.format,
        steps: now.x?.steps,
        binary: now.binary,
        colours: list,
        grid,
        text,
        onCursor: (index) => latest.current.onCursor(index),
        onSelect: now.onSelect && ((from, to) => latest.current.onSelect?.(from, to)),
      });
      observer.observe(element);
    });
    return () => {
      gone = true;
      observer.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shade, props.series.map((one) => one.look ?? '').join(), props.series.length]);
  useEffect(() => plot.current?.setData(props.times, props.series), [props.times, props.series]);
  return <div ref={host} class={css.canvas} />;
}

export function Chart(props: ChartProps) {
  const { title, note, times, series, format } = props;
  const [asTable, setAsTable] = useState(false);
  const [cursor, setCursor] = useState<number | null>(null);
  const id = useId();
  const shown = (one: PlotSeries): string => format(cursor !== null && cursor < times.length ? one.values[cursor] : lastKnown(one.values));
  return (
    <figure class={css.chart} aria-labelledby={id} data-stale={props.stale || undefined}>
      <div class={css.head}>
        <h2 id={id}>{title}</h2>
        {note && <span class={css.note}>{note}</span>}
        <Button variant="quiet" small icon={asTable ? 'chart' : 'table'} aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          {t('chart.table')}
        </Button>
      </div>
      <ul class={css.legend}>
        {series.map((one, index) => (
          <li key={one.label}>
            <svg width="26" height="8" viewBox="0 0 26 8" aria-hidden="true" focusable="false" class={css[`line${lookOf(one.look ?? index).colour + 1}`]}>
              <path d="M0 4h26" stroke="currentColor" stroke-width="2.2" stroke-dasharray={dashArray[lookOf(one.look ?? index).dash]} />
            </svg>
            <span translate={!props.named}>{one.label}</span>
            <b>{shown(one)}</b>
          </li>
        ))}
      </ul>
      {asTable ? (
        <Lazy load={table} props={props} />
      ) : times.length === 0 ? (
        <p class={css.empty}>{t('chart.empty')}</p>
      ) : (
        <div role="img" aria-label={describe(title, series, format)}>
          <Canvas {...props} onCursor={setCursor} />
        </div>
      )}
    </figure>
  );
}
