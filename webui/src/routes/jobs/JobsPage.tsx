// Every training one may see: how far it is, how good, what it cost.
import '../../messages/en-models';
import { useState } from 'preact/hooks';
import * as models from '../../lib/api-models';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { jobs, place, serverNow } from '../../lib/stores';
import type { Job } from '../../lib/types-models';
import { Badge } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Select } from '../../ui/Field';
import { Meter } from '../../ui/Meter';
import { Page } from '../../ui/Page';
import { Table, type Column } from '../../ui/Table';
import { useLoad } from '../../ui/useLoad';
import { jobText, jobTones } from '../../ui/work';
import { jobAddress, kindName, mayTrain, metricName, metricValue, priorityName, wattHours } from '../models/words';
import { Examples } from './Examples';
import css from '../models/models.module.css';

const states = ['running', 'queued', 'paused', 'done', 'failed', 'cancelled'] as const;

function State({ job }: { job: Job }) {
  return (
    <span class={css.stack}>
      <Badge tone={jobTones[job.state]} text={jobText(job)} />
      {job.state === 'running' && <Meter plain fraction={job.share} label={t('job.progress_of', { name: job.name })} />}
      {job.state === 'queued' && job.queue_position > 0 && <span class={css.sub}>{t('operation.ahead_short', { count: job.queue_position })}</span>}
    </span>
  );
}

const columns: readonly Column<Job>[] = [
  {
    id: 'name',
    title: t('job.model_name'),
    main: true,
    sort: (job) => job.name,
    cell: (job) => (
      <>
        <a href={jobAddress(job.id)} translate={false}>
          {job.name}
        </a>
        <span class={css.sub}>{t('job.predicts_by', { target: job.target, kind: kindName(job.kind) })}</span>
      </>
    ),
  },
  { id: 'state', title: t('job.state'), sort: (job) => job.state, cell: (job) => <State job={job} /> },
  { id: 'priority', title: t('job.priority'), numeric: true, sort: (job) => job.priority, cell: (job) => priorityName(job.priority) },
  { id: 'data', title: t('job.data'), sort: (job) => job.dataset, cell: (job) => <span translate={false}>{job.dataset ?? '–'}</span> },
  {
    id: 'best',
    title: t('job.best'),
    sort: (job) => job.best,
    cell: (job) =>
      job.best === null ? (
        '–'
      ) : (
        <>
          {metricValue(job.metric, job.best)}
          <span class={css.sub}>{metricName(job.metric)}</span>
        </>
      ),
  },
  { id: 'energy', title: t('job.energy'), numeric: true, sort: (job) => job.watt_hours, cell: (job) => wattHours(job.watt_hours) },
  { id: 'owner', title: t('job.owner'), sort: (job) => job.owner, cell: (job) => <span translate={false}>{job.owner}</span> },
  { id: 'created', title: t('job.created'), sort: (job) => job.created_at, cell: (job) => f.ago(job.created_at, serverNow()) },
];

function List() {
  const query = place.value.query;
  const state = query.get('state') ?? '';
  const [more, setMore] = useState<{ of: string; items: Job[]; cursor: string | null } | null>(null);
  const loaded = useLoad(() => models.listJobs(state), [state]);
  const extra = more?.of === state ? more : null;
  const cursor = extra ? extra.cursor : (loaded.value?.next_cursor ?? null);
  // What the event stream tells is newer than what was listed.
  const known = new Map([...(loaded.value?.items ?? []), ...(extra?.items ?? [])].map((job) => [job.id, job]));
  for (const job of jobs.value.values()) known.set(job.id, { ...job, dataset: job.dataset ?? known.get(job.id)?.dataset ?? null });
  const rows = [...known.values()].filter((job) => !state || job.state === state).sort((a, b) => b.created_at.localeCompare(a.created_at));
  const fetchMore = async (): Promise<void> => {
    const next = await models.listJobs(state, cursor ?? undefined);
    setMore({ of: state, items: [...(extra?.items ?? []), ...next.items], cursor: next.next_cursor });
  };
  return (
    <>
      {loaded.error && (
        <Note tone="critical" live>
          {loaded.error} <Button small onClick={loaded.reload}>{t('action.retry')}</Button>
        </Note>
      )}
      {loaded.value && rows.length === 0 && !state && <Examples />}
      {(rows.length > 0 || state) && (
        <Card flush>
          <div class={css.tools}>
            <Select
              label={t('job.state')}
              value={state}
              onChange={(value) => setQuery({ state: value })}
              options={[{ value: '', label: t('job.any_state') }, ...states.map((value) => ({ value, label: t(`job.state.${value}`) }))]}
            />
          </div>
          {rows.length === 0 && loaded.value && <EmptyState icon="gauge" title={t('jobs.none_found')} action={<Button onClick={() => setQuery({ state: undefined })}>{t('action.clear_filter')}</Button>} />}
          {rows.length > 0 && <Table dense caption={t('nav.jobs')} columns={columns} rows={rows} rowKey={(job) => job.id} sortBy={query.get('sort') ?? '-created'} onSort={(sort) => setQuery({ sort })} />}
          {cursor && (
            <div class={css.more}>
              <Button onClick={() => void fetchMore()}>{t('jobs.more')}</Button>
            </div>
          )}
        </Card>
      )}
    </>
  );
}

export default function JobsPage() {
  return (
    <Page
      title={t('nav.jobs')}
      lead={t('jobs.lead')}
      actions={
        mayTrain.value && (
          <LinkButton variant="primary" icon="plus" href="/jobs/new">
            {t('jobs.new')}
          </LinkButton>
        )
      }
    >
      <List />
    </Page>
  );
}
