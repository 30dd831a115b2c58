// All data sets one may see, and the way in for new ones. With ?bin=1, what was deleted and can come back.
import '../../messages/en-data';
import { useEffect } from 'preact/hooks';
import * as data from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { datasetsChanged, mayUpload, operations, place, shownOperations, transfers } from '../../lib/stores';
import type { Dataset } from '../../lib/types-data';
import { addFiles, dropCard, startUploads } from '../../lib/uploads';
import { Badge } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { TextField } from '../../ui/Field';
import { Page } from '../../ui/Page';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { Bin } from './Bin';
import { ChooseFile, DropZone } from './DropZone';
import { Formats } from './Formats';
import { Queue } from './Queue';
import css from './datasets.module.css';

function State({ set }: { set: Dataset }) {
  const working = [...operations.value.values()].some((one) => one.dataset_id === set.id && one.state === 'running');
  if (set.damaged) return <Badge tone="critical" text={t('dataset.damaged')} />;
  if (working) return <Badge tone="info" text={t('dataset.new_version')} />;
  return <Badge tone="ok" text={t('dataset.ready')} />;
}

const columns: readonly Column<Dataset>[] = [
  {
    id: 'name',
    title: t('dataset.name'),
    main: true,
    sort: (set) => set.name,
    cell: (set) => (
      <>
        <a href={`/datasets/${encodeURIComponent(set.id)}`} translate={false}>
          {set.name}
        </a>
        {set.description && <span class={css.sub}>{set.description}</span>}
      </>
    ),
  },
  { id: 'rows', title: t('dataset.rows'), numeric: true, sort: (set) => set.rows, cell: (set) => f.number(set.rows) },
  { id: 'columns', title: t('dataset.columns'), numeric: true, sort: (set) => set.columns, cell: (set) => f.number(set.columns) },
  { id: 'size', title: t('dataset.size'), numeric: true, sort: (set) => set.stored_bytes, cell: (set) => f.bytes(set.stored_bytes) },
  { id: 'owner', title: t('dataset.owner'), sort: (set) => set.owner, cell: (set) => <span translate={false}>{set.owner}</span> },
  { id: 'version', title: t('dataset.version'), numeric: true, sort: (set) => set.version, cell: (set) => f.number(set.version) },
  { id: 'state', title: t('dataset.state'), sort: (set) => (set.damaged ? 0 : 1), cell: (set) => <State set={set} /> },
];

function SampleButton({ primary }: { primary?: boolean }) {
  const action = useAction(true);
  const make = (): void =>
    void action.run(async () => {
      const made = await data.createSample();
      if (!operations.value.has(made.id)) operations.value = new Map(operations.value).set(made.id, made);
    });
  return (
    <Button variant={primary ? 'primary' : 'secondary'} icon="plus" busy={action.busy} onClick={make}>
      {t('datasets.sample')}
    </Button>
  );
}

function Nothing() {
  return (
    <EmptyState
      icon="disk"
      title={t('datasets.empty')}
      action={
        mayUpload.value && (
          <div class={css.row}>
            <ChooseFile several primary label={t('upload.choose')} onFiles={(files) => void addFiles(files)} />
            <SampleButton />
          </div>
        )
      }
    >
      {t(mayUpload.value ? 'datasets.empty_text' : 'datasets.empty_viewer')}
    </EmptyState>
  );
}

function List() {
  const query = place.value.query;
  const q = query.get('q') ?? '';
  const loaded = useLoad(() => data.getDatasets(false), [datasetsChanged.value]);
  const all = loaded.value?.items ?? [];
  const rows = all.filter((set) => `${set.name} ${set.description} ${set.owner}`.toLowerCase().includes(q.toLowerCase()));
  const empty = loaded.value !== null && all.length === 0;
  const onTheWay = transfers.value.length > 0 || shownOperations.value.length > 0;
  return (
    <>
      {loaded.error && (
        <Note tone="critical" live>
          {loaded.error} <Button small onClick={loaded.reload}>{t('action.retry')}</Button>
        </Note>
      )}
      {empty && !onTheWay && (
        <Card>
          <Nothing />
        </Card>
      )}
      {all.length > 0 && (
        <Card flush>
          <div class={css.filter}>
            <TextField type="search" label={t('datasets.search')} value={q} onInput={(value) => setQuery({ q: value })} search />
          </div>
          {rows.length === 0 && (
            <EmptyState icon="disk" title={t('datasets.none_found')} action={<Button onClick={() => setQuery({ q: undefined })}>{t('action.clear_filter')}</Button>} />
          )}
          {rows.length > 0 && (
            <Table caption={t('nav.datasets')} columns={columns} rows={rows} rowKey={(set) => set.id} sortBy={query.get('sort') ?? 'name'} onSort={(sort) => setQuery({ sort })} />
          )}
        </Card>
      )}
      {mayUpload.value && loaded.value && <Formats key={String(empty)} open={empty} />}
    </>
  );
}

// The card of an upload goes once its data set stands.
function useTidy(): void {
  const list = shownOperations.value;
  useEffect(() => {
    for (const one of transfers.peek()) {
      if (one.operation && operations.peek().get(one.operation)?.state === 'done') dropCard(one.key);
    }
  }, [list]);
}

export default function DatasetsPage() {
  const bin = place.value.query.get('bin') === '1';
  useEffect(() => {
    if (mayUpload.value) startUploads();
  }, []);
  useTidy();
  if (bin) return <Bin />;
  return (
    <Page
      title={t('nav.datasets')}
      lead={t(mayUpload.value ? 'datasets.lead' : 'datasets.lead_viewer')}
      actions={
        <>
          {mayUpload.value && <ChooseFile several primary label={t('upload.choose')} onFiles={(files) => void addFiles(files)} />}
          {mayUpload.value && (
            <LinkButton icon="bin" href="/datasets?bin=1">
              {t('bin.title')}
            </LinkButton>
          )}
        </>
      }
    >
      {mayUpload.value && <DropZone />}
      <Queue />
      <List />
    </Page>
  );
}
