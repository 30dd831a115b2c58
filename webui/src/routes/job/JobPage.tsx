// One job: how far, how well, at what cost; what it was asked and what came of it.
import '../../messages/en-models';
import { effect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as models from '../../lib/api-models';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { navigate } from '../../lib/router';
import { jobNote, jobs, toast } from '../../lib/stores';
import type { Job, JobCurves, LogLine } from '../../lib/types-models';
import { Badge } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Confirm } from '../../ui/Dialog';
import { EmptyState } from '../../ui/EmptyState';
import { Select } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { Meter } from '../../ui/Meter';
import { Page } from '../../ui/Page';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { jobText, jobTones } from '../../ui/work';
import { datasetAddress, ended, kindName, mayStop, metricName, metricValue, modelAddress, ownsIt, priorityName, wattHours } from '../models/words';
import { withPoint, withWorkerPoint } from './curves';
import { Curves } from './Curves';
import { Log } from './Log';
import { Phases } from './Phases';
import { deviceRows } from './Devices';
import { Late, giveOrTake, powerRows } from './Power';
import { Events, Workers } from './Workers';
import css from '../models/models.module.css';

const linesMax = 1000;

// An event may have been faster than the answer, and is newer then.
function keep(job: Job): void {
  if ((jobs.value.get(job.id)?.revision ?? -1) <= job.revision) jobs.value = new Map(jobs.value).set(job.id, job);
}

function Actions({ job }: { job: Job }) {
  const action = useAction(true);
  const [asking, setAsking] = useState<'cancel' | 'delete' | null>(null);
  const act = (verb: models.JobVerb): void => void action.run(async () => keep(await models.actOnJob(job.id, verb)));
  const stop = (): void => {
    setAsking(null);
    act('cancel');
  };
  const remove = (): void =>
    void action.run(async () => {
      await models.deleteJob(job.id);
      const rest = new Map(jobs.value);
      rest.delete(job.id);
      jobs.value = rest;
      navigate('/jobs');
      toast(t('job.deleted', { name: job.name }), { tone: 'ok' });
    });
  const mine = ownsIt(job.owner_id);
  return (
    <>
      {job.model && job.model_version && (
        <LinkButton variant="primary" icon="model" href={modelAddress(job.model, `?version=${job.model_version}`)}>
          {t('job.open_model')}
        </LinkButton>
      )}
      {mine && job.state === 'running' && (
        <Button icon="pause" busy={action.busy} onClick={() => act('pause')}>
          {t('job.pause')}
        </Button>
      )}
      {mine && job.state === 'paused' && (
        <Button variant="primary" icon="play" busy={action.busy} onClick={() => act('resume')}>
          {t('job.resume')}
        </Button>
      )}
      {mayStop(job.owner_id) && !ended(job.state) && (
        <Button icon="close" onClick={() => setAsking('cancel')}>
          {t('job.cancel')}
        </Button>
      )}
      {mine && ended(job.state) && job.state !== 'done' && (
        <Button icon="refresh" busy={action.busy} onClick={() => act('retry')}>
          {t(job.checkpoint_step > 0 ? 'job.retry_checkpoint' : 'job.retry')}
        </Button>
      )}
      {mine && ended(job.state) && <LinkButton href={`/jobs/new?from=${encodeURIComponent(job.id)}`}>{t('job.again_with')}</LinkButton>}
      {mine && (
        <Button icon={job.protected ? 'lock' : 'shield'} aria-pressed={job.protected} onClick={() => void action.run(async () => keep(await models.protectJob(job, !job.protected)))}>
          {t(job.protected ? 'job.protected' : 'job.protect')}
        </Button>
      )}
      {mine && ended(job.state) && !job.protected && (
        <Button icon="bin" onClick={() => setAsking('delete')}>
          {t('job.delete')}
        </Button>
      )}
      {asking === 'cancel' && (
        <Confirm title={t('job.cancel_title', { name: job.name })} action={t('job.cancel')} onClose={() => setAsking(null)} onConfirm={stop}>
          {t('job.cancel_text')}
        </Confirm>
      )}
      {asking === 'delete' && (
        <Confirm title={t('job.delete_title', { name: job.name })} action={t('job.delete')} busy={action.busy} onClose={() => setAsking(null)} onConfirm={remove}>
          {t('job.delete_text')}
        </Confirm>
      )}
    </>
  );
}

const priorities: readonly number[] = [-10, 0, 10];

// Which of those that wait begins first. One of the three words, or the number somebody gave it.
function Urgency({ job }: { job: Job }) {
  const action = useAction(true);
  if (!mayStop(job.owner_id) || (job.state !== 'queued' && job.state !== 'paused')) return null;
  const known = priorities.includes(job.priority) ? priorities : [...priorities, job.priority].sort((a, b) => a - b);
  return (
    <Card>
      <Select
        label={t('job.priority')}
        hint={t('job.priority_text')}
        value={String(job.priority)}
        onChange={(value) => void action.run(async () => keep(await models.prioritizeJob(job.id, Number(value))))}
        options={known.map((value) => ({ value: String(value), label: priorityName(value) }))}
      />
    </Card>
  );
}

function Progress({ job }: { job: Job }) {
  const watts = job.seconds > 0 && job.watt_hours > 0 ? (job.watt_hours * 3600) / job.seconds : null;
  const rows: [string, string][] = [
    [t('job.time'), job.seconds > 0 && job.seconds < 1 ? t('job.under_second') : f.duration(job.seconds)],
    ...(job.state === 'running' ? ([[t('job.left'), f.duration(job.seconds_left)]] as [string, string][]) : []),
    [t('job.rows'), f.number(job.rows)],
    [t('job.passes'), f.number(job.pass)],
    [t('job.speed'), job.rows_per_second > 0 ? t('job.per_second', { rows: f.number(job.rows_per_second) }) : '–'],
    [t(job.energy_estimated ? 'job.energy_estimated' : 'job.energy'), giveOrTake(job.watt_hours, job.watt_hours_error)],
    [t('job.watts'), f.watts(watts)],
    ...(job.watt_hours > 1e-4 && job.rows > 0 ? ([[t('job.per_joule'), f.figure(job.rows / (job.watt_hours * 3600))]] as [string, string][]) : []),
    ...(job.summary?.seconds_to_target === undefined ? [] : ([[t('job.to_target'), f.duration(job.summary.seconds_to_target)]] as [string, string][])),
    ...(job.summary?.joules_to_target === undefined ? [] : ([[t('job.to_target_joules'), wattHours(job.summary.joules_to_target / 3600)]] as [string, string][])),
    ...powerRows(job),
    ...deviceRows(job),
    [t('job.best'), job.best === null ? '–' : `${metricValue(job.metric, job.best)} (${metricName(job.metric)})`],
  ];
  return (
    <Card>
      <div class={css.form}>
        {!ended(job.state) && (
          <div class={css.progress}>
            <Meter plain fraction={job.share} label={t('job.progress_of', { name: job.name })} />
            <b>{f.percent(job.share)}</b>
          </div>
        )}
        <dl class={css.figures}>
          {rows.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Card>
  );
}

function Asked({ job }: { job: Job }) {
  return (
    <Card title={t('job.lineage')}>
      <div class={css.form}>
        <dl class={css.facts}>
          <div>
            <dt>{t('job.data')}</dt>
            <dd>
              <a href={`${datasetAddress(job.dataset_id)}?version=${job.dataset_version}`} translate={false}>
                {job.dataset ?? job.dataset_id}
              </a>
              , {t('model.version_n', { version: job.dataset_version })}
            </dd>
          </div>
          <div>
            <dt>{t('newjob.target')}</dt>
            <dd translate={false}>{job.target}</dd>
          </div>
          <div>
            <dt>{t('job.kind')}</dt>
            <dd>{kindName(job.kind)}</dd>
          </div>
          <div>
            <dt>{t('job.owner')}</dt>
            <dd translate={false}>{job.owner}</dd>
          </div>
          <div>
            <dt>{t('job.created')}</dt>
            <dd>{f.dateTime(job.created_at)}</dd>
          </div>
          <div>
            <dt>{t('job.priority')}</dt>
            <dd>{priorityName(job.priority)}</dd>
          </div>
          <div>
            <dt>{t('job.attempt')}</dt>
            <dd>{f.number(job.attempt)}</dd>
          </div>
          {job.checkpoint_step > 0 && (
            <div>
              <dt>{t('job.checkpoint')}</dt>
              <dd>{t('job.checkpoint_step', { step: f.number(job.checkpoint_step) })}</dd>
            </div>
          )}
        </dl>
        <details class={css.details}>
          <summary>{t('job.config')}</summary>
          {/* A scrolling area must be reachable by keyboard. */}
          {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
          <pre class={css.pre} tabIndex={0} role="region" aria-label={t('job.config')} translate={false}>
            {JSON.stringify(job.spec, null, 2)}
          </pre>
        </details>
      </div>
    </Card>
  );
}

// Why there is no curve yet.
function waiting(job: Job): string {
  if (job.state === 'queued') return t(job.queue_position > 0 ? 'curve.queued' : 'curve.starting', { count: job.queue_position });
  if (job.state === 'running') return t(job.step === 'preparing' ? 'curve.preparing' : 'curve.first');
  return t('curve.none');
}

// A job of a second has told hardly a point; what it made knows the whole curve.
async function readCurves(id: string): Promise<JobCurves> {
  const told = await models.getMetrics(id);
  const job = jobs.peek().get(id);
  if (!job?.model || !job.model_version || (told.cols[0]?.length ?? 0) > 4) return told;
  const whole = (await models.getEvaluation(job.model, job.model_version).catch(() => null))?.curve ?? [];
  if (whole.length <= (told.cols[0]?.length ?? 0)) return told;
  const names = ['step', 'rows', 'train_loss', 'valid_loss'] as const;
  return { ...told, names: [...names], cols: names.map((name) => whole.map((point) => point[name] ?? null)) };
}

interface Point {
  names: string[];
  values: (number | null)[];
  worker?: number;
  node_id?: string;
}
function follow(id: string, old: JobCurves, point: Point): JobCurves {
  if (!point.worker) return { workers: old.workers, ...withPoint(old, point.names, point.values) };
  const told = jobs.peek().get(id)?.workers?.find((one) => one.number === point.worker);
  const who = { number: point.worker, node_id: point.node_id ?? told?.node_id ?? '' };
  return { ...old, workers: withWorkerPoint(old.workers ?? [], who, point.names, point.values) };
}

function useFollow(id: string): { metrics: JobCurves | null; lines: readonly LogLine[] } {
  const [metrics, setMetrics] = useState<JobCurves | null>(null);
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const seen = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const state = jobs.value.get(id)?.state;
  const readLog = (): Promise<void> =>
    models.getLogs(id).then(({ items }) => {
      seen.current = items.at(-1)?.seq ?? 0;
      setLines(items);
    });
  const missed = (): void => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      readLog().catch(() => undefined);
    }, 1000);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  // Asked again when the state changes: what came while nobody listened is there then.
  useEffect(() => {
    let gone = false;
    readCurves(id).then((all) => !gone && setMetrics(all), () => undefined);
    readLog().catch(() => undefined);
    return () => {
      gone = true;
    };
  }, [id, state]);
  useEffect(
    () =>
      effect(() => {
        const note = jobNote.value;
        if ((note?.data as { id?: string } | null)?.id !== id) return;
        if (note!.kind === 'job.log') {
          const line = note!.data as LogLine;
          setLines((old) => (old.length > 0 && line.seq <= old.at(-1)!.seq ? old : [...old.slice(1 - linesMax), line]));
          // A slow reader is spared lines; what it missed can be read.
          if (line.seq > seen.current + 1) missed();
          seen.current = line.seq;
        } else {
          const point = note!.data as Point;
          setMetrics((old) => follow(id, old ?? { names: [], cols: [] }, point));
        }
      }),
    [id],
  );
  return { metrics, lines };
}

function Detail({ job }: { job: Job }) {
  const { metrics, lines } = useFollow(job.id);
  return (
    <Page
      title={job.name}
      focusKey={job.id}
      lead={
        <>
          <Badge tone={jobTones[job.state]} text={jobText(job)} /> {t('job.predicts_from', { target: job.target, data: job.dataset ?? job.dataset_id })}
        </>
      }
      back={<Back />}
      actions={<Actions job={job} />}
    >
      {job.error && (
        <Note tone="critical" live>
          {job.error}
        </Note>
      )}
      {job.state === 'paused' && <Note tone="info">{t('job.paused_text')}</Note>}
      {job.waiting_for && !ended(job.state) && (
        <Note tone="warning" live>
          {t('job.waits', { why: job.waiting_for })}
        </Note>
      )}
      <Late job={job} />
      <Urgency job={job} />
      <Progress job={job} />
      <Workers job={job} />
      <Phases workers={metrics?.workers ?? []} />
      <Curves metrics={metrics} waiting={waiting(job)} />
      <div class={css.halves}>
        <div class={css.form}>
          <Events events={job.events ?? []} />
          <Asked job={job} />
        </div>
        <Log lines={lines} />
      </div>
    </Page>
  );
}

function Back() {
  return (
    <a class={css.back} href="/jobs">
      <Icon name="back" size={16} />
      {t('nav.jobs')}
    </a>
  );
}

export default function JobPage({ id = '' }: { id?: string }) {
  const loaded = useLoad(async () => {
    const job = await models.getJob(id);
    keep(job);
    return job;
  }, [id]);
  const now = jobs.value.get(id) ?? loaded.value;
  const job = now && { ...now, dataset: now.dataset ?? loaded.value?.dataset ?? null };
  if (job?.id === id) return <Detail job={job} />;
  return (
    <Page title={t('job.title')} back={<Back />}>
      {loaded.error && <EmptyState icon="gauge" title={t('job.unknown')}>{loaded.error}</EmptyState>}
    </Page>
  );
}
