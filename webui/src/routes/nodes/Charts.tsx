// The charts of one node or of many, one line each. A node keeps its colour and dash whichever others are shown, and all
// charts share one cursor, so that cause and effect line up.
//
// A named range follows the present until it is paused. A range between two moments, chosen by hand or by dragging
// over a chart, is the past: it stays as it is.
import { useMemo, useState } from 'preact/hooks';
import { align } from '../../lib/align';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { metrics, type Column, type Metric, type Series } from '../../lib/series';
import { place, stale } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Chart } from '../../ui/Chart';
import { Lazy } from '../../ui/Lazy';
import { NodeChoice } from './NodeChoice';
import { isGone } from './NodeState';
import { ranges, Toolbar } from './Toolbar';
import { useSeries } from './useSeries';
import css from './nodes.module.css';

const picker = () => import('./CustomRange');

interface Lines {
  t: number[];
  of: (metric: Metric, label?: string) => { label: string; values: Column; look: number }[];
}

// `all` decides about colours, `shown` about lines.
function linesOf(all: readonly BoxNode[], shown: readonly BoxNode[], series: ReadonlyMap<string, Series> | undefined): Lines {
  const list = shown.filter((node) => series?.has(node.id));
  const aligned = align(list.map((node) => series!.get(node.id)!));
  const made = Object.fromEntries(
    metrics.map((metric) => [metric, aligned.values(metric).map((values, n) => ({ label: list[n]!.name, values, look: Math.max(0, all.indexOf(list[n]!)) }))]),
  ) as unknown as Record<Metric, { label: string; values: Column; look: number }[]>;
  return { t: aligned.t, of: (metric, label) => (label ? made[metric].map((one, n) => ({ ...one, label, look: n })) : made[metric]) };
}

interface DrawnProps {
  lines: Lines;
  one: BoxNode | undefined; // the only one shown: its lines have the names of what they measure
  stale: boolean;
  onSelect: (from: number, to: number) => void;
}

function Drawn({ lines, one, ...rest }: DrawnProps) {
  const series = useMemo(() => {
    const { of } = lines;
    const named = (metric: Metric, label: string) => of(metric, one && label);
    return {
      cpu: named('cpu', t('metric.cpu')),
      watts: named('watts', t('metric.power')),
      memory: named('mem_used_bytes', t('metric.used')),
      temperature: named('temp_max_c', t('metric.hottest')),
      rx: named('net_rx_bps', t('metric.received')),
      tx: named('net_tx_bps', t('metric.sent')),
      both: one ? [...of('net_rx_bps', t('metric.received')), ...of('net_tx_bps', t('metric.sent')).map((line) => ({ ...line, look: 1 }))] : [],
    };
  }, [lines]);
  const common = { ...rest, group: 'nodes', times: lines.t, named: !one };
  const source = one?.sensors?.power;
  const rates = { ...common, format: f.bitsPerSecond, soft: 1000 };
  return (
    <>
      <Chart {...common} title={t('metric.cpu')} series={series.cpu} format={f.percent} max={1} />
      <Chart {...common} title={t('metric.power')} note={source && t(`sensor.${source}`)} series={series.watts} format={f.watts} soft={5} />
      <Chart {...common} title={t('metric.memory')} note={one && t('metric.of', { total: f.bytes(one.memory_bytes) })} series={series.memory} format={f.bytes} binary max={one?.memory_bytes || undefined} />
      <Chart {...common} title={t('metric.temperature')} series={series.temperature} format={f.celsius} soft={60} />
      {one ? (
        <Chart {...rates} title={t('metric.network')} series={series.both} />
      ) : (
        <>
          <Chart {...rates} title={t('nodes.received')} series={series.rx} />
          <Chart {...rates} title={t('nodes.sent')} series={series.tx} />
        </>
      )}
    </>
  );
}

export function Charts({ nodes }: { nodes: readonly BoxNode[] }) {
  const query = place.value.query;
  const from = query.get('from') ?? '';
  const to = query.get('to') ?? '';
  const custom = !!from && !!to;
  const range = ranges.find((name) => name === query.get('range')) ?? '5m';
  const wanted = (query.get('nodes') ?? '').split(/[ +]/);
  const chosen = nodes.filter((node) => wanted.includes(node.id));
  const shown = chosen.length > 0 ? chosen : nodes;
  const [paused, setPaused] = useState(false);
  const [picking, setPicking] = useState(false);
  const { past, error, reload } = useSeries(shown.map((node) => node.id), custom ? { from, to } : { range }, !custom && !paused);
  const names = shown.map((node) => node.name).join();
  const lines = useMemo(() => linesOf(nodes, shown, past?.series), [past, names]);
  const one = shown.length === 1 ? shown[0] : undefined;
  const missing = shown.filter((node) => past?.missing.includes(node.id)).map((node) => node.name);
  const pause = (): void => {
    // What was missed meanwhile comes from the history.
    if (paused) reload();
    setPaused(!paused);
  };
  const select = (a: number, b: number): void =>
    setQuery({ from: new Date(a * 1000).toISOString(), to: new Date(b * 1000).toISOString(), range: undefined }, { replace: false });
  const csv = (): void => {
    const name = `samovar-${one ? one.name.replace(/[^\w-]+/g, '_') : 'nodes'}-${new Date().toISOString().slice(0, 16).replaceAll(':', '')}.csv`;
    const list = shown.flatMap((node) => {
      const series = past?.series.get(node.id);
      return series ? [{ name: node.name, series }] : [];
    });
    void import('./csv').then(({ saveCsv }) => saveCsv(name, list));
  };
  return (
    <>
      <Toolbar range={range} custom={custom} paused={paused} onPause={pause} onCustom={() => setPicking(!picking)} onCsv={csv} />
      {nodes.length > 1 && <NodeChoice all={nodes} shown={shown} />}
      {(picking || custom) && <Lazy key={`${from}${to}`} load={picker} props={{ from, to, span: [...(past?.series.values() ?? [])][0]?.span ?? 3600 }} />}
      {custom && (
        <Note tone="info">
          {t('range.past', { from: f.dateTime(from), to: f.dateTime(to) })}{' '}
          <a href={place.value.path} onClick={() => setPicking(false)}>
            {t('range.back_live')}
          </a>
        </Note>
      )}
      {error && (
        <Note tone="critical" live>
          {error}{' '}
          <Button small onClick={reload}>
            {t('action.retry')}
          </Button>
        </Note>
      )}
      {!error && missing.length > 0 && <Note tone="warning">{t('nodes.no_history', { names: f.join(missing) })}</Note>}
      <div class={css.charts} aria-busy={past === null}>
        <Drawn key={one ? 'one' : 'many'} lines={lines} one={one} stale={!custom && (stale.value || (!!one && isGone(one)))} onSelect={select} />
      </div>
    </>
  );
}
