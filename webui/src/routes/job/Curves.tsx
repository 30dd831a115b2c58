// The curves of a job: smoothed or not, by step, time or rows, linear or logarithmic; what is zoomed into stays so
// while new points come.
import { useMemo, useState } from 'preact/hooks';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { nodes, stale } from '../../lib/stores';
import type { JobCurves, WorkerCurves } from '../../lib/types-models';
import { Button } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Chart } from '../../ui/Chart';
import { Choice, Select } from '../../ui/Field';
import { metricName } from '../models/words';
import { along, byNode, groups, perNode, smooth, smoothMax, within, type Along, type CurveGroup, type PerNode } from './curves';
import css from '../models/models.module.css';

const figure = (value: number | null | undefined): string => f.figure(value);
type Format = (value: number | null | undefined) => string;
const formats: Record<PerNode, Format> = { train_loss: figure, samples_per_second: figure, watts: f.watts, joules: (value) => f.energy((value ?? 0) / 3600), bytes_sent: f.bytes, wait_seconds: (value) => t('worker.seconds', { seconds: f.number(value, 2) }) };
const axisFormat = (axis: Along): ((value: number) => string) => (axis === 'seconds' ? (value) => t('time.seconds', { seconds: f.figure(value) }) : axis === 'joules' ? (value) => t('curve.in_joules', { joules: f.figure(value) }) : f.figure);

// There is no half a step.
const whole = Array.from({ length: 45 }, (_, n) => [1, 2, 5][n % 3]! * 10 ** Math.floor(n / 3));

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
      x={{ title: t(`curve.${axis}`), format: axisFormat(axis), steps: axis === 'step' || axis === 'rows' ? whole : undefined }}
      stale={stale.value}
      onSelect={onRange}
    />
  );
}

interface NodesProps extends Omit<OneProps, 'group' | 'x'> {
  name: PerNode;
  workers: readonly WorkerCurves[];
}

// One measure, a line per node; the mean comes first and keeps its look.
function OfNodes({ name, workers, axis, weight, log, range, onRange }: NodesProps) {
  const all = useMemo(() => byNode(workers, name, axis), [workers, name, axis]);
  const { times, series } = useMemo(() => {
    const keep = within(all.x, range);
    // Counts that only grow are not smoothed; nor is a mean of them of use.
    const grows = name === 'joules' || name === 'bytes_sent' || name === 'wait_seconds';
    const cut = (values: readonly (number | null)[]): (number | null)[] => {
      const smoothed = smooth(values, grows ? 0 : weight);
      return keep.map((index) => (log && (smoothed[index] ?? 0) <= 0 ? null : (smoothed[index] ?? null)));
    };
    // Two workers of one node came one after the other.
    const often = new Map<string, number>();
    for (const one of workers) often.set(one.node_id, (often.get(one.node_id) ?? 0) + 1);
    const label = ({ node_id: id, number }: WorkerCurves): string => {
      const node = nodes.value.get(id)?.name ?? id.slice(0, 4).toUpperCase();
      return (often.get(id) ?? 0) > 1 ? t('job.worker_n', { node, number }) : node;
    };
    const lines = workers.map((one, index) => ({ label: label(one), values: cut(all.curves[index] ?? []), look: index + 1 }));
    const mean = grows ? [] : [{ label: t('curve.mean'), values: cut(all.mean), look: 0 }];
    return { times: keep.map((index) => all.x[index]!), series: [...mean, ...lines] };
  }, [all, range, weight, log, workers]);
  if (all.x.length === 0) return null;
  return (
    <Chart
      key={`${axis} ${log}`}
      title={t(`curve.of.${name}`)}
      group="job"
      times={times}
      series={series}
      named
      format={formats[name]}
      fit={log ? 'log' : 'linear'}
      x={{ title: t(`curve.${axis}`), format: axisFormat(axis), steps: axis === 'step' || axis === 'rows' ? whole : undefined }}
      stale={stale.value}
      onSelect={onRange}
    />
  );
}

export function Curves({ metrics, waiting }: { metrics: JobCurves | null; waiting: string }) {
  const [split, setSplit] = useState(true);
  const [axis, setAxis] = useState<Along>('step');
  const [weight, setWeight] = useState(0);
  const [log, setLog] = useState(false);
  const [range, setRange] = useState<readonly [number, number] | null>(null);
  const list = useMemo(() => (metrics ? groups(metrics) : []), [metrics]);
  const workers = metrics?.workers ?? [];
  const several = workers.length > 1;
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
        {several && <Choice kind="checkbox" label={t('curve.per_node')} checked={split} onChange={setSplit} />}
        {range && <Button onClick={() => setRange(null)}>{t('curve.whole')}</Button>}
      </div>
      <div class={css.charts}>
        {list.map((group) => (
          <One key={group.name} group={group} x={x} axis={axis} weight={weight} log={log} range={range} onRange={(from, to) => setRange([from, to])} />
        ))}
        {several && split && perNode.map((name) => <OfNodes key={name} name={name} workers={workers} axis={axis} weight={weight} log={log} range={range} onRange={(from, to) => setRange([from, to])} />)}
      </div>
    </>
  );
}
