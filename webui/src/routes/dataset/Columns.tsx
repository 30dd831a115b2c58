// Every column with its type, what is missing, how it is spread; with a target chosen, how much it tells about it.
import { useState } from 'preact/hooks';
import * as data from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { place } from '../../lib/stores';
import type { DatasetDetail, ProfileColumn } from '../../lib/types-data';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Select, TextField } from '../../ui/Field';
import { Meter } from '../../ui/Meter';
import { sortRows, Table, type Column } from '../../ui/Table';
import { useLoad } from '../../ui/useLoad';
import { ColumnDetail, Mini } from './Bars';
import { ChangeColumns } from './ChangeColumns';
import css from './dataset.module.css';

const portion = 50;
const targetable = new Set(['real', 'integer', 'boolean']);

function Correlation({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <span class={css.sub}>{t('profile.unknown')}</span>;
  return (
    <span class={css.share}>
      <span>{f.number(value, 2)}</span>
      <Meter plain fraction={Math.abs(value)} label={t('profile.strength')} />
    </span>
  );
}

export function Columns({ set, version, mayChange }: { set: DatasetDetail; version: number; mayChange: boolean }) {
  const query = place.value.query;
  const target = query.get('target') ?? '';
  const q = query.get('q') ?? '';
  const sort = query.get('sort') ?? '';
  const [shown, setShown] = useState(portion);
  const [changing, setChanging] = useState(false);
  const loaded = useLoad(() => Promise.all([data.getProfile(set.id, version, target), data.getSchema(set.id, version)]), [set.id, version, target, set.revision]);
  const [profile, schema] = loaded.value ?? [];
  const rows = profile?.rows ?? set.rows;
  const sensitive = new Set(schema?.columns.filter((column) => column.sensitive).map((column) => column.name));
  // What is masked in rows is not told by its commonest values either.
  const all = (profile?.columns ?? []).map((column) => (sensitive.has(column.name) && column.levels ? { ...column, levels: [], other: 0 } : column));
  const found = all.filter((column) => column.name.toLowerCase().includes(q.toLowerCase()));
  const list: Column<ProfileColumn>[] = [
    {
      id: 'name',
      title: t('columns.name'),
      main: true,
      sort: (column) => column.name,
      cell: (column) => (
        <>
          <span class={css.name} translate={false}>
            {column.name}
          </span>{' '}
          {sensitive.has(column.name) && <Badge tone="warning" text={t('columns.sensitive')} />}
          {column.name === target && <Badge tone="info" text={t('profile.target')} />}
        </>
      ),
    },
    { id: 'type', title: t('columns.type'), sort: (column) => column.type, cell: (column) => t(`type.${column.type}`) },
    {
      id: 'missing',
      title: t('columns.missing'),
      sort: (column) => column.missing,
      cell: (column) => {
        const share = rows > 0 ? column.missing / rows : 0;
        return (
          <span class={css.share}>
            <span>{f.percent(share, share > 0 && share < 0.1 ? 1 : 0)}</span>
            <Meter plain fraction={share} label={t('columns.missing_of', { name: column.name })} />
          </span>
        );
      },
    },
    { id: 'spread', title: t('profile.spread'), cell: (column) => <Mini column={column} rows={rows} hidden={sensitive.has(column.name)} /> },
  ];
  if (target) {
    list.push({
      id: 'correlation',
      title: t('profile.correlation'),
      sort: (column) => (column.correlation === null || column.correlation === undefined ? null : -Math.abs(column.correlation)),
      cell: (column) => (column.name === target ? '–' : <Correlation value={column.correlation} />),
    });
  }
  return (
    <>
      {loaded.error && (
        <Note tone="critical" live>
          {loaded.error} <Button small onClick={loaded.reload}>{t('action.retry')}</Button>
        </Note>
      )}
      {!set.may_read_rows && <Note tone="info">{t('profile.suppressed')}</Note>}
      <Card
        flush
        title={t('columns.title')}
        actions={
          mayChange &&
          set.source.kept &&
          version === set.version && (
            <Button small onClick={() => setChanging(true)}>
              {t('columns.change')}
            </Button>
          )
        }
      >
        <div class={css.tools}>
          <TextField type="search" label={t('columns.search')} value={q} onInput={(value) => setQuery({ q: value })} search />
          <Select
            label={t('profile.choose_target')}
            value={target}
            onChange={(value) => setQuery({ target: value })}
            options={[{ value: '', label: t('profile.no_target') }, ...all.filter((column) => targetable.has(column.type)).map((column) => ({ value: column.name, label: column.name }))]}
          />
        </div>
        {profile && found.length === 0 ? (
          <EmptyState icon="table" title={t('columns.none_found')} action={<Button onClick={() => setQuery({ q: undefined })}>{t('action.clear_filter')}</Button>} />
        ) : (
          <Table
            caption={t('columns.title')}
            columns={list}
            rows={sortRows(found, list, sort).slice(0, shown)}
            rowKey={(column) => column.name}
            sortBy={sort}
            onSort={(next) => setQuery({ sort: next })}
            expand={{
              title: t('profile.details'),
              label: (column) => t('profile.details_of', { name: column.name }),
              content: (column) => <ColumnDetail column={column} rows={rows} />,
            }}
          />
        )}
        {found.length > shown && (
          <div class={css.more}>
            <Button onClick={() => setShown(shown + 4 * portion)}>{t('columns.more', { count: found.length - shown })}</Button>
          </div>
        )}
      </Card>
      {changing && schema && <ChangeColumns set={set} columns={schema.columns} onClose={() => setChanging(false)} />}
    </>
  );
}
