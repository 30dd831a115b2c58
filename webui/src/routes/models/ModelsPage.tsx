// The models one may see, and which version of each is in use.
import '../../messages/en-models';
import { useRef, useState } from 'preact/hooks';
import * as models from '../../lib/api-models';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { navigate, setQuery } from '../../lib/router';
import { modelsChanged, place, serverNow } from '../../lib/stores';
import type { Model } from '../../lib/types-models';
import { Badge } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Dialog } from '../../ui/Dialog';
import { EmptyState } from '../../ui/EmptyState';
import { TextField } from '../../ui/Field';
import { Page } from '../../ui/Page';
import { Problem, fieldError } from '../../ui/Problem';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { headline, kindName, mayTrain, modelAddress, modelName } from './words';
import css from './models.module.css';

const columns: readonly Column<Model>[] = [
  {
    id: 'name',
    title: t('model.name'),
    main: true,
    sort: (model) => model.name,
    cell: (model) => (
      <>
        <a href={modelAddress(model.name)} translate={false}>
          {model.name}
        </a>
        <span class={css.sub}>{model.description || (model.target && t('job.predicts_by', { target: model.target, kind: kindName(model.kind) }))}</span>
      </>
    ),
  },
  {
    id: 'stage',
    title: t('model.stage'),
    sort: (model) => (model.serving ? 0 : 1),
    cell: (model) => (model.serving ? <Badge tone="ok" text={t('model.serving', { version: model.serving })} /> : <Badge tone="neutral" text={t('model.not_serving')} />),
  },
  { id: 'metric', title: t('model.quality'), cell: (model) => headline(model.headline) },
  { id: 'version', title: t('model.versions'), numeric: true, sort: (model) => model.version, cell: (model) => f.number(model.version) },
  { id: 'owner', title: t('job.owner'), sort: (model) => model.owner, cell: (model) => <span translate={false}>{model.owner}</span> },
  { id: 'created', title: t('job.created'), sort: (model) => model.created_at, cell: (model) => f.ago(model.created_at, serverNow()) },
  {
    id: 'actions',
    title: t('table.actions'),
    hideTitle: true,
    cell: (model) =>
      model.may_use && (
        <LinkButton small href={modelAddress(model.name, '/use')} label={t('model.use_what', { name: model.name })}>
          {t('model.use')}
        </LinkButton>
      ),
  },
];

function Import({ onClose }: { onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const action = useAction();
  const submit = (): void => {
    if (!file || !name.trim()) return;
    void action.run(async () => {
      const made = await models.importModel(name.trim(), file);
      modelsChanged.value += 1;
      navigate(modelAddress(name.trim(), `?version=${made.version}`));
    });
  };
  const choose = (chosen: File | undefined): void => {
    setFile(chosen ?? null);
    if (chosen && !name) setName(modelName(chosen.name.replace(/\.json$/i, '')));
  };
  return (
    <Dialog
      title={t('import.title')}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button type="submit" variant="primary" busy={action.busy} disabled={!file || !name.trim()}>
            {t('import.submit')}
          </Button>
        </>
      }
    >
      <div class={css.form}>
        <p>{t('import.text')}</p>
        <Problem error={action.error} />
        <div class={css.row}>
          <Button icon="upload" onClick={() => input.current?.click()}>
            {t('import.choose')}
          </Button>
          <span translate={false}>{file?.name}</span>
          <input ref={input} hidden type="file" accept=".json,application/json" aria-label={t('import.choose')} onChange={(event) => choose(event.currentTarget.files?.[0])} />
        </div>
        <TextField label={t('model.name')} hint={t('newjob.name_hint')} value={name} maxLength={64} error={fieldError(action.error, '/name')} onInput={setName} />
      </div>
    </Dialog>
  );
}

export default function ModelsPage() {
  const [importing, setImporting] = useState(false);
  const query = place.value.query;
  const q = query.get('q') ?? '';
  const loaded = useLoad(() => models.getModels(), [modelsChanged.value]);
  const all = loaded.value?.items ?? [];
  const rows = all.filter((model) => `${model.name} ${model.description} ${model.owner}`.toLowerCase().includes(q.toLowerCase()));
  const ways = mayTrain.value && (
    <div class={css.row}>
      <LinkButton variant="primary" icon="plus" href="/jobs/new">
        {t('models.train')}
      </LinkButton>
      <Button icon="upload" onClick={() => setImporting(true)}>
        {t('import.open')}
      </Button>
    </div>
  );
  return (
    <Page title={t('nav.models')} lead={t('models.lead')} actions={all.length > 0 && ways}>
      {loaded.error && (
        <Note tone="critical" live>
          {loaded.error} <Button small onClick={loaded.reload}>{t('action.retry')}</Button>
        </Note>
      )}
      {loaded.value && all.length === 0 && (
        <Card>
          <EmptyState icon="model" title={t('models.empty')} action={ways}>
            {t(mayTrain.value ? 'models.empty_text' : 'models.empty_viewer')}
          </EmptyState>
        </Card>
      )}
      {all.length > 0 && (
        <Card flush>
          <div class={css.tools}>
            <TextField type="search" label={t('models.search')} value={q} onInput={(value) => setQuery({ q: value })} search />
          </div>
          {rows.length === 0 ? (
            <EmptyState icon="model" title={t('models.none_found')} action={<Button onClick={() => setQuery({ q: undefined })}>{t('action.clear_filter')}</Button>} />
          ) : (
            <Table caption={t('nav.models')} columns={columns} rows={rows} rowKey={(model) => model.name} sortBy={query.get('sort') ?? 'name'} onSort={(sort) => setQuery({ sort })} />
          )}
        </Card>
      )}
      {importing && <Import onClose={() => setImporting(false)} />}
    </Page>
  );
}
