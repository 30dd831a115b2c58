// Who works on a job: each node with its share, speed, energy and network; and what happened to them.
import * as f from '../../lib/format';
import { t, tMaybe } from '../../lib/messages';
import type { Job, JobEvent, JobWorker, WorkerState } from '../../lib/types-models';
import { Badge, type Tone } from '../../ui/Badge';
import { Card } from '../../ui/Card';
import { Table, type Column } from '../../ui/Table';
import css from '../models/models.module.css';

const tones: Record<WorkerState, Tone> = { preparing: 'neutral', working: 'info', done: 'ok', lost: 'warning' };
const name = (one: JobWorker): string => one.node ?? one.node_id.slice(0, 4).toUpperCase();
const known = (value: number | null, shown: (value: number) => string): string => (value === null ? '–' : shown(value));

// Nothing while there is next to no energy to divide by.
const perJoule = (one: JobWorker): number | null => (one.joules > 0.1 ? one.rows_done / one.joules : null);

const columns: readonly Column<JobWorker>[] = [
  {
    id: 'node',
    title: t('worker.node'),
    main: true,
    sort: (one) => name(one),
    cell: (one) => (
      <>
        <a href={`/nodes/${encodeURIComponent(one.node_id)}`} translate={false}>
          {name(one)}
        </a>
        {one.lead && <span class={css.sub}>{t('worker.lead')}</span>}
      </>
    ),
  },
  {
    id: 'state',
    title: t('job.state'),
    sort: (one) => one.state,
    cell: (one) => (
      <>
        <Badge tone={tones[one.state]} text={t(`worker.state.${one.state}`)} />
        {one.error && <span class={css.sub}>{one.error}</span>}
      </>
    ),
  },
  { id: 'rows', title: t('worker.rows'), numeric: true, sort: (one) => one.rows, cell: (one) => f.number(one.rows) },
  { id: 'rate', title: t('worker.rate'), numeric: true, sort: (one) => one.samples_per_second, cell: (one) => known(one.samples_per_second, (value) => f.number(value)) },
  { id: 'loss', title: t('metric.name.loss'), numeric: true, sort: (one) => one.loss, cell: (one) => known(one.loss, (value) => f.number(value, 4)) },
  { id: 'watts', title: t('worker.watts'), numeric: true, sort: (one) => one.watts, cell: (one) => known(one.watts, (value) => (one.watts_estimated ? t('worker.about', { value: f.watts(value) }) : f.watts(value))) },
  { id: 'energy', title: t('job.energy'), numeric: true, sort: (one) => one.joules, cell: (one) => (one.joules_error ? t('worker.joules_error', { joules: f.figure(one.joules), error: f.figure(one.joules_error) }) : t('worker.joules', { joules: f.figure(one.joules) })) },
  { id: 'per_joule', title: t('worker.per_joule'), numeric: true, sort: perJoule, cell: (one) => known(perJoule(one), f.figure) },
  { id: 'sent', title: t('worker.sent'), numeric: true, sort: (one) => one.bytes_sent, cell: (one) => t('worker.out_in', { out: f.bytes(one.bytes_sent), in: f.bytes(one.bytes_received) }) },
  { id: 'wait', title: t('worker.wait'), numeric: true, sort: (one) => one.wait_seconds, cell: (one) => known(one.wait_seconds, (value) => t('worker.seconds', { seconds: f.number(value, 1) })) },
];

export function Workers({ job }: { job: Job }) {
  const workers = job.workers ?? [];
  if (workers.length === 0) return null;
  const at = workers.filter((one) => one.state === 'working').length;
  return (
    <Card flush title={t('worker.title')} actions={at > 0 && <span class={css.sub}>{t('worker.count', { count: at })}</span>}>
      <Table dense caption={t('worker.title')} columns={columns} rows={workers} rowKey={(one) => one.number} faded={(one) => one.state === 'lost'} />
      {workers.some((one) => one.watts_estimated) && <p class={css.cardText}>{t('worker.estimated')}</p>}
    </Card>
  );
}

const eventTone = (kind: string): string => (kind === 'lost' || kind === 'left' || kind === 'moved' || kind === 'late' ? 'warning' : 'info');

export function Events({ events }: { events: readonly JobEvent[] }) {
  if (events.length === 0) return null;
  return (
    <Card title={t('job.events')}>
      {/* A scrolling area must be reachable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div class={css.log} tabIndex={0} role="region" aria-label={t('job.events')}>
        <ol class={css.plain} translate={false}>
          {events.toReversed().map((event) => (
            <li key={event.seq} data-level={eventTone(event.kind)}>
              <time>{f.time(event.at, true)}</time> <b>{tMaybe(`event.${event.kind}`, event.kind)}</b> <span>{event.text}</span>
            </li>
          ))}
        </ol>
      </div>
    </Card>
  );
}
