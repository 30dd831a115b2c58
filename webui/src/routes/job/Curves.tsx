// The curves of a job: smoothed or not, by step, time or rows, linear or logarithmic; what is zoomed into stays so
// while new points come.
import { useMemo, useState } from 'preact/hooks';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { stale } from '../../lib/stores';
import type { Columnar } from '../../lib/types-models';
import { Button } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Chart } from '../../ui/Chart';
import { Choice, Select } from '../../ui/Field';
import { metricName } from '../models/words';
import { along, groups, smooth, smoothMax, within, type Along, type CurveGroup } from './curves';
import css from '../models/models.module.css';

const figure = (value: number | null | undefined): string => f.figure(value);

interface OneProps {
  group: CurveGroup;
  x: readonly (number | null)[];
  axis: Along;
  weight: number;
  log: boolean;
  range: readonly [number, number] | null;
  onRange: (from: number, to: number) => void;
}

function One({ group, x, axis, weight, log, range, onRange }: OneProps) {
  const keep = useMemo(() => within(x, range), [x, range]);
  const times = useMemo(() => keep.map((index) => x[index]!), [keep]);
  const series = useMemo(
    () =>
      group.curves.map((curve) => {
        const values = smooth(curve.values, weight);
        // A logarithm has no place for zero and below.
        return { label: metricName(curve.name), values: keep.map((index) => (log && (values[index] ?? 0) <= 0 ? null : (values[index] ?? null))) };
      }),
    [group.curves, keep, weight, log],
  );
  return (
    <Chart
      key={`${axis} ${log}`}
      title={metricName(group.name)}
      group="job"
      times={times}
      series={series}
      format={figure}
      fit={log ? 'log' : 'linear'}
      x={{ title: t(`curve.${axis}`), format: axis === 'seconds' ? (value) => t('time.seconds', { seconds: f.figure(value) }) : f.figure }}
      stale={stale.value}
      onSelect={onRange}
    />
  );
}

export function Curves({ metrics, waiting }: { metrics: Columnar | null; waiting: string }) {
  const [axis, setAxis] = useState<Along>('step');
  const [weight, setWeight] = useState(0);
  const [log, setLog] = useState(false);
  const [range, setRange] = useState<readonly [number, number] | null>(null);
  const list = useMemo(() => (metrics ? groups(metrics) : []), [metrics]);
  const x = metrics?.cols[metrics.names.indexOf(axis)] ?? [];
  if (list.length === 0) {
    return (
      <Card title={t('curve.title')}>
        <p class={css.sub}>{waiting}</p>
      </Card>
    );
  }
  return (
    <>
      <div class={css.curveTools} role="group" aria-label={t('curve.title')}>
        <Select label={t('curve.along')} value={axis} onChange={(value) => (setAxis(value as Along), setRange(null))} options={along.filter((name) => metrics?.names.includes(name)).map((value) => ({ value, label: t(`curve.${value}`) }))} />
        <label class={css.slider}>
          <span>
            {t('curve.smooth')} <b>{f.number(weight, 2)}</b>
          </span>
          <input type="range" min="0" max={smoothMax} step="0.01" value={weight} onInput={(event) => setWeight(Number(event.currentTarget.value))} />
        </label>
        <Choice kind="checkbox" label={t('curve.log')} checked={log} onChange={setLog} />
        {range && <Button onClick={() => setRange(null)}>{t('curve.whole')}</Button>}
      </div>
      <div class={css.charts}>
        {list.map((group) => (
          <One key={group.name} group={group} x={x} axis={axis} weight={weight} log={log} range={range} onRange={(from, to) => setRange([from, to])} />
        ))}
      </div>
    </>
  );
}
