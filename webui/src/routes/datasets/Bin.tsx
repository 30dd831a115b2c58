// The bin: deleted data sets stay thirty days. Restoring is one press; destroying cannot be undone, so an
// administrator types the name.
import { useState } from 'preact/hooks';
import * as data from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { datasetsChanged, isAdmin, toast } from '../../lib/stores';
import type { Dataset } from '../../lib/types-data';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Dialog } from '../../ui/Dialog';
import { EmptyState } from '../../ui/EmptyState';
import { TextField } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { Page } from '../../ui/Page';
import { Problem } from '../../ui/Problem';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import css from './datasets.module.css';

function Destroy({ set, onClose }: { set: Dataset; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const action = useAction();
  const destroy = (): void => {
    if (typed !== set.name) return;
    void action.run(async () => {
      await data.destroyDataset(set.id);
      toast(t('bin.destroyed', { name: set.name }), { tone: 'ok' });
      datasetsChanged.value += 1;
      onClose();
    });
  };
  return (
    <Dialog
      title={t('bin.destroy_title', { name: set.name })}
      onClose={onClose}
      onSubmit={destroy}
      footer={
        <>
          <Button data-autofocus="" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button type="submit" variant="danger" busy={action.busy} disabled={typed !== set.name}>
            {t('bin.destroy')}
          </Button>
        </>
      }
    >
      <Problem error={action.error} />
      <p>{t('bin.destroy_text')}</p>
      <TextField label={t('bin.type_name', { name: set.name })} value={typed} onInput={setTyped} autocomplete="off" />
    </Dialog>
  );
}

function Restore({ set }: { set: Dataset }) {
  const action = useAction(true);
  const restore = (): void =>
    void action.run(async () => {
      await data.restoreDataset(set.id);
      toast(t('bin.restored', { name: set.name }), { tone: 'ok' });
      datasetsChanged.value += 1;
    });
  return (
    <Button small busy={action.busy} aria-label={t('bin.restore_what', { name: set.name })} onClick={restore}>
      {t('bin.restore')}
    </Button>
  );
}

export function Bin() {
  const loaded = useLoad(() => data.getDatasets(true), [datasetsChanged.value]);
  const [destroying, setDestroying] = useState<Dataset | null>(null);
  const rows = loaded.value?.items ?? [];
  const columns: Column<Dataset>[] = [
    { id: 'name', title: t('dataset.name'), main: true, sort: (set) => set.name, cell: (set) => <span translate={false}>{set.name}</span> },
    { id: 'rows', title: t('dataset.rows'), numeric: true, cell: (set) => f.number(set.rows) },
    { id: 'size', title: t('dataset.size'), numeric: true, cell: (set) => f.bytes(set.stored_bytes) },
    { id: 'owner', title: t('dataset.owner'), cell: (set) => <span translate={false}>{set.owner}</span> },
    { id: 'binned', title: t('bin.since'), nowrap: true, sort: (set) => set.binned_at, cell: (set) => f.day(set.binned_at) },
    { id: 'purge', title: t('bin.until'), nowrap: true, sort: (set) => set.purge_at, cell: (set) => f.day(set.purge_at) },
    {
      id: 'actions',
      title: t('table.actions'),
      hideTitle: true,
      cell: (set) => (
        <>
          <Restore set={set} />
          {isAdmin.value && (
            <Button small variant="quiet" aria-label={t('bin.destroy_what', { name: set.name })} onClick={() => setDestroying(set)}>
              {t('bin.destroy')}
            </Button>
          )}
        </>
      ),
    },
  ];
  return (
    <Page
      title={t('bin.title')}
      lead={t('bin.lead')}
      focusKey="bin"
      back={
        <a class={css.back} href="/datasets">
          <Icon name="back" size={16} />
          {t('nav.datasets')}
        </a>
      }
    >
      {loaded.error && (
        <Note tone="critical" live>
          {loaded.error}
        </Note>
      )}
      <Card flush>
        {loaded.value && rows.length === 0 ? <EmptyState icon="bin" title={t('bin.empty')} /> : <Table caption={t('bin.title')} columns={columns} rows={rows} rowKey={(set) => set.id} sortBy="-binned" />}
      </Card>
      {destroying && <Destroy set={destroying} onClose={() => setDestroying(null)} />}
    </Page>
  );
}
