// The power budget: what holds now and why, what each node draws and may draw, and what is set.
import '../../messages/en-power';
import { useEffect } from 'preact/hooks';
import * as api from '../../lib/api-power';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { isAdmin, session } from '../../lib/stores';
import type { NodePower, Power } from '../../lib/types-cluster';
import { Card, Note } from '../../ui/Card';
import { Page } from '../../ui/Page';
import { Table, type Column } from '../../ui/Table';
import { useLoad } from '../../ui/useLoad';
import { Settings } from './Settings';
import css from './power.module.css';

const everyMs = 2000;

function work(node: NodePower): string {
  if (node.state === 'unknown') return '–';
  if (node.probing) return t('power.probing');
  return node.working ? t('power.duty_of', { share: f.percent(node.duty) }) : t('power.resting');
}

const columns = (): Column<NodePower>[] => [
  { id: 'name', title: t('power.node'), main: true, sort: (node) => node.name, cell: (node) => node.name || node.id },
  { id: 'state', title: t('power.state'), sort: (node) => node.state, cell: (node) => t(`power.state.${node.state}`) },
  { id: 'watts', title: t('power.draws'), numeric: true, sort: (node) => node.watts, cell: (node) => f.watts(node.watts) },
  { id: 'source', title: t('power.source'), cell: (node) => (node.watts === null ? '–' : t(node.estimated ? 'power.estimated' : 'power.measured')) },
  { id: 'cap', title: t('power.cap'), numeric: true, sort: (node) => node.cap_watts, cell: (node) => f.watts(node.cap_watts) },
  { id: 'rest', title: t('power.rest'), numeric: true, sort: (node) => node.idle_watts, cell: (node) => f.watts(node.idle_watts) },
  { id: 'duty', title: t('power.duty'), sort: (node) => node.duty, cell: work },
  { id: 'clock', title: t('power.clock'), cell: (node) => (node.clock_levels > 1 ? t('power.clock_level', { level: node.clock_level + 1, levels: node.clock_levels }) : t('power.clock_free')) },
  { id: 'heat', title: t('power.heat'), numeric: true, sort: (node) => node.temperature, cell: (node) => (node.hot ? t('power.hot', { heat: f.celsius(node.temperature) }) : f.celsius(node.temperature)) },
];

function Now({ power }: { power: Power }) {
  return (
    <Card title={t('power.now')}>
      <div class={css.form}>
        {power.trouble && <Note tone="warning">{power.trouble}</Note>}
        <p class={css.sentence} role="status">
          {power.budget_watts === null ? t('power.none') : t('power.in_force', { budget: f.watts(power.budget_watts), why: t(`power.why.${power.reason}`) })}{' '}
          {power.changes_at && t('power.changes', { time: f.dateTime(power.changes_at) })}
        </p>
        <dl class={css.facts}>
          <dt>{t('power.draws')}</dt>
          <dd>
            {f.watts(power.watts)} <span class={css.sub}>{t(power.estimated ? 'power.estimated' : 'power.measured')}</span>
          </dd>
          <dt>{t('power.mean')}</dt>
          <dd>{f.watts(power.mean_watts)}</dd>
          <dt>{t('power.rest')}</dt>
          <dd>{f.watts(power.idle_watts)}</dd>
        </dl>
        {power.advice && <p class={css.text}>{power.advice}</p>}
      </div>
    </Card>
  );
}

export default function PowerPage() {
  const loaded = useLoad(() => api.getPower());
  useEffect(() => {
    const timer = setInterval(() => document.hidden || loaded.reload(), everyMs);
    return () => clearInterval(timer);
  }, []);
  const power = loaded.value;
  const reads = isAdmin.value || session.value?.user.role === 'auditor';
  return (
    <Page title={t('metric.power')} lead={t('power.lead')}>
      {loaded.error && <Note tone="critical" live>{loaded.error}</Note>}
      {power && <Now power={power} />}
      {power && (
        <Card title={t('power.nodes')}>
          <Table caption={t('power.nodes')} columns={columns()} rows={power.nodes} rowKey={(node) => node.id} dense faded={(node) => node.state !== 'reporting'} />
        </Card>
      )}
      {reads && <Settings onSaved={loaded.reload} />}
    </Page>
  );
}
