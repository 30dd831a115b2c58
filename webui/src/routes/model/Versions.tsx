// The versions of a model: which one is in use, what changed between two of them.
import { useState } from 'preact/hooks';
import * as models from '../../lib/api-models';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { modelsChanged, place, serverNow, toast } from '../../lib/stores';
import type { Evaluation, ModelDetail, ModelVersion } from '../../lib/types-models';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Confirm } from '../../ui/Dialog';
import { Select } from '../../ui/Field';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { datasetAddress, headline, jobAddress, measured, metricName, metricRows, metricValue, modelAddress, stageText, stageTones } from '../models/words';
import css from '../models/models.module.css';

const text = (value: unknown): string => (value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value));
const split = (which: string): [string, number] => [which.slice(0, which.lastIndexOf('@')), Number(which.slice(which.lastIndexOf('@') + 1))];

function Compare({ model }: { model: ModelDetail }) {
  const query = place.value.query;
  const newest = model.versions.map((one) => one.version);
  const a = query.get('a') ?? `${model.name}@${model.serving ?? newest[1] ?? newest[0]}`;
  const b = query.get('b') ?? `${model.name}@${newest[0]}`;
  // Models of others can be held against this one too, each by its newest version.
  const rest = useLoad(() => models.getModels());
  const options = [
    ...model.versions.map((one) => ({ value: `${model.name}@${one.version}`, label: t('model.version_n', { version: one.version }) })),
    ...(rest.value?.items ?? []).filter((one) => one.name !== model.name).map((one) => ({ value: `${one.name}@${one.version}`, label: `${one.name} ${one.version}` })),
  ];
  const loaded = useLoad(
    () => (a === b ? Promise.resolve(null) : Promise.all([models.compare(a, b), models.getEvaluation(...split(a)).catch(() => null), models.getEvaluation(...split(b)).catch(() => null)])),
    [a, b],
  );
  const [told, left, right] = loaded.value ?? [];
  const label = (which: string): string => options.find((one) => one.value === which)?.label ?? which;
  const of = (one: Evaluation | null | undefined, name: string): string => {
    const value = measured((one?.metrics.test ?? one?.metrics.valid)?.[name]);
    return value ? metricValue(name, value.value) : '–';
  };
  const metrics = metricRows(right?.metrics.test ?? right?.metrics.valid).map((row) => ({ path: metricName(row.name), a: of(left, row.name), b: of(right, row.name) }));
  const rows = [...metrics, ...(told?.differences ?? []).map((one) => ({ path: one.path, a: text(one.a), b: text(one.b) }))];
  return (
    <Card flush title={t('compare.title')}>
      <div class={css.tools}>
        <Select label={t('compare.a')} value={a} onChange={(value) => setQuery({ a: value })} options={options} />
        <Select label={t('compare.b')} value={b} onChange={(value) => setQuery({ b: value })} options={options} />
      </div>
      {loaded.error && <p class={css.cardText}>{loaded.error}</p>}
      {a === b ? (
        <p class={css.cardText}>{t('compare.same')}</p>
      ) : (
        rows.length > 0 && (
          <Table
            caption={t('compare.title')}
            rows={rows}
            rowKey={(row) => row.path}
            columns={[
              { id: 'path', title: t('compare.what'), main: true, cell: (row) => row.path },
              { id: 'a', title: label(a), cell: (row) => <span class={css.any}>{row.a}</span> },
              { id: 'b', title: label(b), cell: (row) => <span class={css.any}>{row.b}</span> },
            ]}
          />
        )
      )}
    </Card>
  );
}

export function Versions({ model, reload }: { model: ModelDetail; reload: () => void }) {
  const action = useAction(true);
  const [asking, setAsking] = useState<ModelVersion | null>(null);
  const mine = model.may_manage;
  const act = (work: () => Promise<void>, after?: () => void): void =>
    void action.run(async () => {
      await work();
      modelsChanged.value += 1;
      reload();
      after?.();
    });
  const back = (): void => act(() => models.rollback(model.name), () => toast(t('model.rolled_back', { name: model.name }), { tone: 'ok' }));
  const use = (version: number): void =>
    act(
      () => models.promote(model.name, version),
      () => toast(t('model.promoted', { name: model.name, version }), { tone: 'ok', undo: model.serving ? back : undefined }),
    );
  const columns: Column<ModelVersion>[] = [
    {
      id: 'version',
      title: t('model.version'),
      main: true,
      nowrap: true,
      sort: (one) => one.version,
      cell: (one) => <a href={modelAddress(model.name, `?version=${one.version}`)}>{t('model.version_n', { version: one.version })}</a>,
    },
    {
      id: 'stage',
      title: t('model.stage'),
      cell: (one) => (
        <>
          <Badge tone={stageTones[one.stage]} text={stageText(one)} /> {one.protected && <Badge plain tone="neutral" text={t('job.protected')} />}
        </>
      ),
    },
    { id: 'quality', title: t('model.quality'), nowrap: true, cell: (one) => headline(one.headline) },
    {
      id: 'data',
      title: t('model.from'),
      cell: (one) =>
        one.job_id ? (
          <>
            <a href={jobAddress(one.job_id)}>{t('model.job')}</a>
            {one.dataset_id && (
              <>
                , <a href={datasetAddress(one.dataset_id)}>{one.dataset ?? one.dataset_id}</a> {one.dataset_version}
              </>
            )}
          </>
        ) : (
          t('model.imported')
        ),
    },
    { id: 'made', title: t('job.created'), nowrap: true, sort: (one) => one.created_at, cell: (one) => f.ago(one.created_at, serverNow()) },
    { id: 'size', title: t('dataset.size'), numeric: true, cell: (one) => f.bytes(one.stored_bytes) },
  ];
  if (mine) {
    columns.push({
      id: 'actions',
      title: t('table.actions'),
      hideTitle: true,
      cell: (one) => (
        <span class={css.buttons}>
          {one.version !== model.serving && (
            <Button small aria-label={t('model.promote_what', { version: one.version })} onClick={() => use(one.version)}>
              {t('model.promote')}
            </Button>
          )}
          <Button small variant="quiet" aria-pressed={one.protected} aria-label={t('model.protect_what', { version: one.version })} onClick={() => act(() => models.protectVersion(model.name, one.version, !one.protected))}>
            {t('job.protect')}
          </Button>
          <Button
            small
            variant="quiet"
            aria-label={t('model.delete_what', { version: one.version })}
            disabled={one.version === model.serving || one.protected}
            title={one.version === model.serving ? t('model.delete_serving') : one.protected ? t('model.delete_protected') : undefined}
            onClick={() => setAsking(one)}
          >
            {t('job.delete')}
          </Button>
        </span>
      ),
    });
  }
  return (
    <>
      <Card
        flush
        title={t('model.versions')}
        actions={
          mine &&
          model.served_before !== null && (
            <Button small icon="refresh" busy={action.busy} onClick={back}>
              {t('model.rollback')}
            </Button>
          )
        }
      >
        <Table caption={t('model.versions')} columns={columns} rows={model.versions} rowKey={(one) => one.version} sortBy="-version" />
      </Card>
      {mine && model.serving !== null && <Note tone="info">{t('model.delete_serving')}</Note>}
      {model.versions.length > 1 && <Compare model={model} />}
      {asking && (
        <Confirm
          title={t('model.delete_title', { name: model.name, version: asking.version })}
          action={t('job.delete')}
          busy={action.busy}
          onClose={() => setAsking(null)}
          onConfirm={() => act(() => models.deleteVersion(model.name, asking.version), () => setAsking(null))}
        >
          {t('model.delete_text')}
        </Confirm>
      )}
    </>
  );
}
