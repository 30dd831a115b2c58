// What a node is and what its sensors say, in words and numbers.
import '../../messages/en-node';
import * as f from '../../lib/format';
import { t, tMaybe } from '../../lib/messages';
import { serverNow } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import { Badge } from '../../ui/Badge';
import { Card } from '../../ui/Card';
import { Table } from '../../ui/Table';
import { Fact } from './Fact';
import Manage from './Manage';
import { isGone } from './NodeState';
import css from './nodes.module.css';

const sandboxTone = { full: 'ok', partial: 'warning', off: 'critical' } as const;

export default function Facts({ node }: { node: BoxNode }) {
  const { sensors, sample } = node;
  const temperatures = sensors?.temperatures ?? [];
  const rails = sensors?.rails ?? [];
  return (
    <>
      <Card title={t('node.part')}>
        <Manage node={node} plain />
      </Card>
      <Card title={t('node.facts')}>
        <dl class={css.facts}>
          <Fact name={t('node.hostname')}>{node.hostname}</Fact>
          <Fact name={t('node.hardware')}>{node.cores ? t('node.hardware_text', { count: node.cores, arch: node.arch }) : node.arch}</Fact>
          <Fact name={t('metric.memory')}>{f.bytes(node.memory_bytes)}</Fact>
          <Fact name={t('metric.disk')}>{sample ? t('metric.used_of', { used: f.bytes(sample.disk_used_bytes), total: f.bytes(sample.disk_total_bytes) }) : f.bytes(node.disk_bytes)}</Fact>
          <Fact name={t('node.version')}>{node.version}</Fact>
          <Fact name={t('node.started')}>
            {f.dateTime(node.started_at)} {node.started_at && !isGone(node) && `(${f.duration(serverNow() / 1000 - f.unixSeconds(node.started_at))})`}
          </Fact>
          <Fact name={t('node.load')}>{f.number(sample?.load1, 2)}</Fact>
          <Fact name={t('node.process')}>{sample ? t('node.process_text', { memory: f.bytes(sample.process_rss_bytes), cpu: f.percent(sample.process_cpu, 1) }) : '–'}</Fact>
          <Fact name={t('node.sandbox')}>
            {node.sandbox ? <Badge tone={sandboxTone[node.sandbox] ?? 'neutral'} text={tMaybe(`node.sandbox.${node.sandbox}`, node.sandbox)} /> : '–'}
          </Fact>
          <Fact name={t('node.power_source')}>
            {sensors ? t(`sensor.${sensors.power}`) : '–'}
            {sensors?.power_note && <span class={css.sub}>{sensors.power_note}</span>}
          </Fact>
          {sensors?.gpu && (
            <Fact name={t('node.gpu')}>{t('node.gpu_text', { load: f.percent(sensors.gpu.load), clock: f.hertz(sensors.gpu.clock_hz) })}</Fact>
          )}
        </dl>
      </Card>
      <div class={css.halves}>
        {temperatures.length > 0 && (
          <Card title={t('node.temperatures')} flush>
            <Table
              caption={t('node.temperatures')}
              rows={temperatures}
              rowKey={(row) => row.name}
              columns={[
                { id: 'name', title: t('node.sensor'), main: true, sort: (row) => row.name, cell: (row) => row.name },
                { id: 'value', title: t('metric.temperature'), numeric: true, sort: (row) => row.celsius, cell: (row) => f.celsius(row.celsius) },
              ]}
            />
          </Card>
        )}
        {rails.length > 0 && (
          <Card title={t('node.rails')} flush>
            <Table
              caption={t('node.rails')}
              rows={rails}
              rowKey={(row) => row.name}
              columns={[
                { id: 'name', title: t('node.rail'), main: true, sort: (row) => row.name, cell: (row) => row.name },
                { id: 'value', title: t('metric.power'), numeric: true, sort: (row) => row.watts, cell: (row) => f.watts(row.watts) },
              ]}
            />
          </Card>
        )}
      </div>
    </>
  );
}
