// The five charts of a node. They share one cursor, so that cause and effect line up.
import { useMemo } from 'preact/hooks';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { Series } from '../../lib/series';
import type { BoxNode } from '../../lib/types';
import { Chart } from '../../ui/Chart';
import css from './nodes.module.css';

interface ChartsProps {
  node: BoxNode;
  series: Series | null;
  stale: boolean;
  onSelect: (from: number, to: number) => void;
}

const none: number[] = [];

export function Charts({ node, series, stale, onSelect }: ChartsProps) {
  const times = series?.t ?? none;
  const lines = useMemo(() => {
    const c = series?.cols;
    return {
      cpu: [{ label: t('metric.cpu'), values: c?.cpu ?? [] }],
      memory: [{ label: t('metric.used'), values: c?.mem_used_bytes ?? [] }],
      power: [{ label: t('metric.power'), values: c?.watts ?? [] }],
      temperature: [{ label: t('metric.hottest'), values: c?.temp_max_c ?? [] }],
      network: [
        { label: t('metric.received'), values: c?.net_rx_bps ?? [] },
        { label: t('metric.sent'), values: c?.net_tx_bps ?? [] },
      ],
    };
  }, [series]);
  const common = { group: `node-${node.id}`, times, stale, onSelect };
  const source = node.sensors.power;
  return (
    <div class={css.charts} aria-busy={series === null}>
      <Chart {...common} title={t('metric.cpu')} series={lines.cpu} format={f.percent} max={1} />
      <Chart {...common} title={t('metric.power')} note={t(`sensor.${source}`)} series={lines.power} format={f.watts} soft={5} />
      <Chart {...common} title={t('metric.memory')} note={t('metric.of', { total: f.bytes(node.memory_bytes) })} series={lines.memory} format={f.bytes} binary max={node.memory_bytes || undefined} />
      <Chart {...common} title={t('metric.temperature')} series={lines.temperature} format={f.celsius} soft={60} />
      <Chart {...common} title={t('metric.network')} series={lines.network} format={f.bitsPerSecond} soft={1000} />
    </div>
  );
}
