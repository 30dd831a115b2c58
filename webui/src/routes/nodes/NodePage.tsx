// One node: live charts with a shared cursor, any range from five minutes to thirty days, and its facts.
//
// A named range follows the present until it is paused. A range between two moments, chosen by hand or by dragging
// over a chart, is the past: it stays as it is.
import { useState } from 'preact/hooks';
import * as api from '../../lib/api';
import { download } from '../../lib/download';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { toCsv } from '../../lib/series';
import { live, nodes, place, toast } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Icon } from '../../ui/Icon';
import { Page } from '../../ui/Page';
import { useLoad } from '../../ui/useLoad';
import { Charts } from './Charts';
import { CustomRange } from './CustomRange';
import { Facts } from './Facts';
import { NodeState } from './NodesPage';
import { useSeries } from './useSeries';
import css from './nodes.module.css';

export const ranges = ['5m', '1h', '24h', '7d', '30d'] as const;

function Toolbar({ range, custom, paused, onPause, onCustom, onCsv }: { range: string; custom: boolean; paused: boolean; onPause: () => void; onCustom: () => void; onCsv: () => void }) {
  return (
    <div class={css.toolbar}>
      <div class={css.ranges} role="group" aria-label={t('range.label')}>
        {ranges.map((name) => (
          <button key={name} type="button" aria-pressed={!custom && range === name} title={t(`range.long.${name}`)} onClick={() => setQuery({ range: name, from: undefined, to: undefined })}>
            {t(`range.${name}`)}
          </button>
        ))}
        <button type="button" aria-pressed={custom} onClick={onCustom}>
          {t('range.custom')}
        </button>
      </div>
      <div class={css.tools}>
        {!custom && (
          <Button icon={paused ? 'play' : 'pause'} aria-pressed={paused} onClick={onPause}>
            {t(paused ? 'range.resume' : 'range.pause')}
          </Button>
        )}
        <Button icon="download" onClick={onCsv}>
          {t('range.csv')}
        </Button>
      </div>
    </div>
  );
}

function Detail({ node }: { node: BoxNode }) {
  const query = place.value.query;
  const from = query.get('from') ?? '';
  const to = query.get('to') ?? '';
  const past = !!from && !!to;
  const range = ranges.find((name) => name === query.get('range')) ?? '5m';
  const [paused, setPaused] = useState(false);
  const [picking, setPicking] = useState(false);
  const { series, error, reload } = useSeries(node.id, past ? { from, to } : { range }, !past && !paused);
  const select = (a: number, b: number): void =>
    setQuery({ from: new Date(a * 1000).toISOString(), to: new Date(b * 1000).toISOString(), range: undefined }, { replace: false });
  const csv = (): void => {
    if (!series) return;
    const name = `samovar-${node.name.replace(/[^\w-]+/g, '_')}-${new Date().toISOString().slice(0, 16).replaceAll(':', '')}.csv`;
    download(name, new Blob([toCsv(series)], { type: 'text/csv' }));
    toast(t('range.csv_done', { name }), { tone: 'ok' });
  };
  const pause = (): void => {
    // What was missed meanwhile comes from the history.
    if (paused) reload();
    setPaused(!paused);
  };
  return (
    <>
      <Toolbar range={range} custom={past} paused={paused} onPause={pause} onCustom={() => setPicking(!picking)} onCsv={csv} />
      {(picking || past) && <CustomRange key={`${from}${to}`} from={from} to={to} span={series?.span ?? 3600} />}
      {past && (
        <Note tone="info">
          {t('range.past', { from: f.dateTime(from), to: f.dateTime(to) })}{' '}
          <a
            href={place.value.path}
            onClick={() => setPicking(false)}
          >
            {t('range.back_live')}
          </a>
        </Note>
      )}
      {error && (
        <Note tone="critical" live>
          {error} <Button small onClick={reload}>{t('action.retry')}</Button>
        </Note>
      )}
      <Charts node={node} series={series} stale={!past && live.value.state === 'lost'} onSelect={select} />
      <Facts node={node} />
    </>
  );
}

export default function NodePage({ id = '' }: { id?: string }) {
  const known = nodes.value.get(id);
  const fetched = useLoad(() => (nodes.peek().has(id) ? Promise.resolve(null) : api.getNode(id)), [id]);
  const node = known ?? fetched.value;
  const back = (
    <a class={css.back} href="/nodes">
      <Icon name="back" size={16} />
      {t('nav.nodes')}
    </a>
  );
  if (!node) {
    return (
      <Page title={t('node.title')} back={back}>
        {fetched.error && <EmptyState icon="nodes" title={t('node.unknown')}>{fetched.error}</EmptyState>}
      </Page>
    );
  }
  return (
    <Page
      title={node.name}
      back={back}
      lead={
        <>
          <NodeState state={node.state} /> {node.model}
        </>
      }
    >
      <Detail node={node} />
    </Page>
  );
}
