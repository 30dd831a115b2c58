// A new job, from the question in plain words to the button; everything else has a default.
import '../../messages/en-models';
import '../../messages/en-data';
import { useEffect, useState } from 'preact/hooks';
import * as data from '../../lib/api-data';
import * as models from '../../lib/api-models';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { navigate, setQuery } from '../../lib/router';
import { jobs, place } from '../../lib/stores';
import type { Dataset, DatasetDetail, Profile } from '../../lib/types-data';
import type { JobEstimate, JobSpec, SpecCheck } from '../../lib/types-models';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Choice, Select, TextField } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { Page } from '../../ui/Page';
import { Problem, fieldError } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { Snippet } from '../models/Snippet';
import { jobAddress, mayTrain, modelName, wattHours } from '../models/words';
import { Advanced } from './Advanced';
import { asCall, asCommand, canBeTarget, emptyDraft, fromSpec, goalOf, isGroup, isIdentifier, otherwise, toSpec, type Draft } from './draft';
import { Inputs } from './Inputs';
import { PowerChoice, estimateOfPower } from './PowerChoice';
import { SplitChoice } from './SplitChoice';
import { Several } from './Together';
import css from '../models/models.module.css';

const settleMs = 400;

// Asks the box what it thinks of the draft, once it has been left alone for a moment.
function useCheck(spec: JobSpec | null): { check: SpecCheck | null; estimate: JobEstimate | null; error: unknown } {
  const [told, setTold] = useState<{ check: SpecCheck | null; estimate: JobEstimate | null; error: unknown }>({ check: null, estimate: null, error: null });
  const text = spec && JSON.stringify(spec);
  useEffect(() => {
    if (!spec) return;
    let over = false;
    const timer = setTimeout(async () => {
      try {
        const check = await models.checkJob(spec);
        // The estimate may be missing; the job can be started without it.
        const estimate = check.faults.length > 0 ? null : await models.estimateJob(spec).catch(() => null);
        if (!over) setTold({ check, estimate, error: null });
      } catch (error) {
        if (!over) setTold({ check: null, estimate: null, error });
      }
    }, settleMs);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [text]);
  return told;
}

interface FormProps {
  sets: readonly Dataset[];
  set: DatasetDetail;
  profile: Profile | null;
  from: JobSpec | null;
}

function first({ set, profile, from }: FormProps): Draft {
  const columns = set.schema.columns;
  if (from) return fromSpec({ ...from, dataset: set.id }, columns);
  const asked = place.value.query.get('target') ?? '';
  const target = columns.some((column) => column.name === asked && canBeTarget(column)) ? asked : '';
  const left = (profile?.columns ?? []).filter((column) => isIdentifier(column, profile!.rows)).map((column) => column.name);
  return { ...emptyDraft(set.id, target), name: modelName(target), left: new Set(left) };
}

function Form(props: FormProps) {
  const { set, sets, profile } = props;
  const columns = set.schema.columns;
  const [draft, setDraft] = useState(() => first(props));
  const change = (more: Partial<Draft>): void => setDraft((old) => ({ ...old, ...more }));
  const algorithms = useLoad(() => models.getAlgorithms());
  const algorithm = algorithms.value?.items.find((one) => one.id === draft.kind);
  const spec = draft.target && draft.name.trim() ? toSpec(draft, columns) : null;
  const { check, estimate, error } = useCheck(spec);
  const action = useAction();
  const fault = (pointer: string): string | undefined => check?.faults.find((one) => one.pointer === pointer)?.detail ?? fieldError(action.error, pointer);
  const identifiers = new Set((profile?.columns ?? []).filter((column) => isIdentifier(column, profile!.rows)).map((column) => column.name));
  const groups = (profile?.columns ?? []).filter((column) => isGroup(column, profile!.rows) && column.name !== draft.target).map((column) => column.name);
  const taken = otherwise(draft);
  const free = columns.filter((column) => !taken.has(column.name));
  const target = columns.find((column) => column.name === draft.target);
  const shown = ['/target', '/name', '/dataset', '/inputs', '/seed', '/weight', '/offset', '/exposure', '/on_lost_node', '/priority', '/power', '/device'];
  const other = (check?.faults ?? []).filter((one) => !shown.includes(one.pointer) && !/^\/(split|parameters|features|strategy|nodes|power)\//.test(one.pointer));
  const wrong = new Set(check?.faults.map((one) => one.pointer)).size;
  const inputFault = check?.faults.find((one) => /^\/(inputs|ignore)/.test(one.pointer))?.detail;
  const start = (event: Event): void => {
    event.preventDefault();
    if (!spec) return;
    void action.run(async () => {
      const made = await models.createJob(spec);
      if (!jobs.value.has(made.id)) jobs.value = new Map(jobs.value).set(made.id, made);
      navigate(jobAddress(made.id));
    });
  };
  return (
    <form class={css.page} novalidate onSubmit={start}>
      <Card title={t('newjob.goal')}>
        <div class={css.form}>
          <div class={css.fields}>
            <Select label={t('newjob.dataset')} value={set.id} onChange={(id) => setQuery({ dataset: id, from: undefined, target: undefined })} options={sets.map((one) => ({ value: one.id, label: one.name }))} />
            <Select
              label={t('newjob.target')}
              value={draft.target}
              error={fault('/target')}
              onChange={(name) => change({ target: name, ...(draft.named ? {} : { name: modelName(name) }) })}
              options={[{ value: '', label: t('newjob.choose_target') }, ...columns.filter(canBeTarget).map((column) => ({ value: column.name, label: t('newjob.target_option', { name: column.name, goal: t(`goal.${goalOf(column)}`) }) }))]}
            />
            <TextField label={t('newjob.name')} hint={t('newjob.name_hint')} value={draft.name} maxLength={64} error={fault('/name')} onInput={(name) => change({ name, named: true })} />
          </div>
          {target && (
            <p class={css.sentence}>
              {t('newjob.sentence', { target: target.name, goal: t(`goal.${goalOf(target)}`), count: free.filter((column) => !draft.left.has(column.name)).length, data: set.name })}
            </p>
          )}
          {(algorithms.value?.items.length ?? 0) > 0 && (
            <fieldset class={css.cards} translate={false}>
              <legend>{t('newjob.method')}</legend>
              {algorithms.value!.items.map((one) => (
                <Choice key={one.id} card kind="radio" name="kind" label={one.name} detail={one.summary} checked={one.id === draft.kind} onChange={() => change({ kind: one.id, parameters: {} })} />
              ))}
            </fieldset>
          )}
        </div>
      </Card>
      {draft.target && (
        <>
          <Inputs columns={free} left={draft.left} identifiers={identifiers} error={inputFault} onChange={(left) => change({ left })} />
          <SplitChoice draft={draft} columns={columns} groups={groups} advice={check?.advice ?? []} fault={fault} onChange={change} />
          <Several draft={draft} algorithm={algorithm} fault={fault} onChange={change} />
          <PowerChoice draft={draft} fault={fault} onChange={change} />
          <Advanced draft={draft} algorithm={algorithm} columns={free} fault={fault} onChange={change} />
          <Card title={t('newjob.ready')}>
            <div class={css.form}>
              {other.map((one) => (
                <Note key={one.pointer + one.code} tone="critical">
                  {one.detail}
                </Note>
              ))}
              <Problem error={action.error ?? error} />
              <p role="status" class={css.sub}>
                {wrong > 0
                  ? t('newjob.faults', { count: wrong })
                  : estimate
                    ? t(estimate.basis === 'measured' ? 'newjob.estimate' : 'newjob.estimate_guessed', { time: f.duration(Math.max(1, estimate.seconds)), energy: wattHours(estimate.watt_hours), memory: f.bytes(estimate.memory_bytes) })
                    : t('newjob.estimating')}
              </p>
              {wrong === 0 && estimate && estimateOfPower(estimate)}
              <div class={css.row}>
                <Button type="submit" variant="primary" icon="play" busy={action.busy} disabled={!spec}>
                  {t('newjob.start')}
                </Button>
                <LinkButton href="/jobs">{t('action.cancel')}</LinkButton>
              </div>
              {spec && (
                <details class={css.details}>
                  <summary>{t('newjob.copy')}</summary>
                  <div class={css.form}>
                    <Snippet title={t('newjob.cli')} text={asCommand(spec)} />
                    <Snippet title={t('newjob.api')} text={asCall(spec, location.origin)} />
                  </div>
                </details>
              )}
            </div>
          </Card>
        </>
      )}
    </form>
  );
}

export default function NewJobPage() {
  const query = place.value.query;
  const from = query.get('from') ?? '';
  const before = useLoad(() => (from ? models.getJob(from) : Promise.resolve(null)), [from]);
  const sets = useLoad(() => data.getDatasets(false));
  const usable = sets.value?.items.filter((set) => set.may_read_rows && !set.damaged) ?? [];
  const ready = sets.value !== null && (!from || before.value !== null || before.error !== '');
  const id = query.get('dataset') ?? before.value?.dataset_id ?? usable[0]?.id ?? '';
  const loaded = useLoad(async () => {
    if (!ready || !id) return null;
    const { value: set } = await data.getDataset(id);
    // Without the profile nothing is known about identifiers; the rest works.
    return { set, profile: await data.getProfile(id, set.version, '').catch(() => null) };
  }, [id, ready]);
  const found = loaded.value?.set.id === id ? loaded.value : null;
  const problem = sets.error || loaded.error;
  return (
    <Page
      title={t('newjob.title')}
      lead={t('newjob.lead')}
      back={
        <a class={css.back} href="/jobs">
          <Icon name="back" size={16} />
          {t('nav.jobs')}
        </a>
      }
    >
      {problem && <Note tone="critical" live>{problem}</Note>}
      {before.value?.error && <Note tone="warning">{t('newjob.failed_before', { error: before.value.error })}</Note>}
      {ready && usable.length === 0 && (
        <Card>
          <EmptyState icon="disk" title={t(mayTrain.value ? 'newjob.no_data' : 'newjob.not_allowed')} action={mayTrain.value && <LinkButton href="/datasets">{t('nav.datasets')}</LinkButton>}>
            {mayTrain.value && t('newjob.no_data_text')}
          </EmptyState>
        </Card>
      )}
      {found && mayTrain.value && <Form key={`${id} ${from}`} sets={usable} set={found.set} profile={found.profile} from={before.value?.dataset_id === id ? before.value.spec : null} />}
    </Page>
  );
}
