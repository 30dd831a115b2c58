// The columns of a file or a data set with name, type and sensitive flag to change. Beside each stands why it was
// understood so. Wide files have thousands of columns: they are searched and shown in portions.
import { useState } from 'preact/hooks';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { columnTypes, type ColumnChange, type ColumnType, type FoundColumn, type SchemaColumn } from '../../lib/types-data';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { TextField } from '../../ui/Field';
import { Table, type Column } from '../../ui/Table';
import css from './datasets.module.css';

type Row = SchemaColumn & Partial<Omit<FoundColumn, keyof SchemaColumn>>;
export type Edits = Readonly<Record<string, { rename?: string; type?: ColumnType; sensitive?: boolean }>>;

const portion = 50;
const searchFrom = 15;

// Only what differs from what was found.
export function changesOf(columns: readonly SchemaColumn[], edits: Edits): ColumnChange[] {
  return columns.flatMap((column) => {
    const edit = edits[column.name];
    if (!edit) return [];
    const rename = edit.rename?.trim();
    const change: ColumnChange = {
      column: column.name,
      ...(rename !== undefined && rename !== column.name && { rename }),
      ...(edit.type && edit.type !== column.type && { type: edit.type }),
      ...(edit.sensitive !== undefined && edit.sensitive !== column.sensitive && { sensitive: edit.sensitive }),
    };
    return Object.keys(change).length > 1 ? [change] : [];
  });
}

// The sentence about names that cannot be, or nothing.
export function checkNames(columns: readonly SchemaColumn[], edits: Edits): string {
  const seen = new Set<string>();
  for (const column of columns) {
    const name = edits[column.name]?.rename?.trim() ?? column.name;
    if (!name) return t('columns.empty_name', { name: column.name });
    if (seen.has(name)) return t('columns.same_name', { name });
    seen.add(name);
  }
  return '';
}

interface Props {
  columns: readonly Row[];
  edits: Edits;
  onChange: (edits: Edits) => void;
  rows?: number; // of the sample
}

function Flags({ row, sensitive }: { row: Row; sensitive: boolean }) {
  return (
    <span class={css.flags}>
      {sensitive && <Badge tone="warning" text={t('columns.sensitive')} />}
      {row.identifier && <Badge tone="neutral" text={t('columns.identifier')} />}
      {row.constant && <Badge tone="neutral" text={t('columns.constant')} />}
    </span>
  );
}

export function ColumnEditor({ columns, edits, onChange, rows }: Props) {
  const [q, setQ] = useState('');
  const [shown, setShown] = useState(portion);
  const set = (name: string, change: Edits[string]): void => onChange({ ...edits, [name]: { ...edits[name], ...change } });
  const sensitive = (row: Row): boolean => edits[row.name]?.sensitive ?? row.sensitive;
  const explained = columns.some((row) => row.evidence !== undefined);
  const list: Column<Row>[] = [
    {
      id: 'name',
      title: t('columns.name'),
      main: true,
      cell: (row) => (
        <input class={css.cellInput} aria-label={t('columns.name_of', { name: row.name })} value={edits[row.name]?.rename ?? row.name} maxLength={256} spellcheck={false} onInput={(event) => set(row.name, { rename: event.currentTarget.value })} />
      ),
    },
    {
      id: 'type',
      title: t('columns.type'),
      cell: (row) => (
        <select class={css.cellInput} aria-label={t('columns.type_of', { name: row.name })} value={edits[row.name]?.type ?? row.type} onChange={(event) => set(row.name, { type: event.currentTarget.value as ColumnType })}>
          {(row.type === 'sparse' ? (['sparse'] as const) : columnTypes).map((type) => (
            <option key={type} value={type}>
              {t(`type.${type}`)}
            </option>
          ))}
        </select>
      ),
    },
    {
      id: 'sensitive',
      title: t('columns.sensitive'),
      cell: (row) => (
        <label class={css.check}>
          <input type="checkbox" checked={sensitive(row)} onChange={(event) => set(row.name, { sensitive: event.currentTarget.checked })} />
          <span class="visually-hidden">{t('columns.sensitive_of', { name: row.name })}</span>
        </label>
      ),
    },
  ];
  if (explained) {
    list.push(
      {
        id: 'why',
        title: t('columns.why'),
        cell: (row) => (
          <span class={css.why}>
            {row.evidence}
            {row.sensitive_reason && <span class={css.sub}>{row.sensitive_reason}</span>}
            <Flags row={row} sensitive={sensitive(row)} />
          </span>
        ),
      },
      {
        id: 'examples',
        title: t('columns.examples'),
        cell: (row) => <span class={css.examples}>{(row.examples ?? []).map((text, index) => <code key={index}>{text}</code>)}</span>,
      },
      {
        id: 'missing',
        title: t('columns.missing'),
        numeric: true,
        cell: (row) => (row.missing ? f.percent(rows ? row.missing / rows : null, 1) : f.number(0)),
      },
    );
  }
  const found = columns.filter((row) => row.name.toLowerCase().includes(q.toLowerCase()));
  return (
    <div class={css.editor}>
      {columns.length > searchFrom && (
        <div class={css.nameField}>
          <TextField type="search" label={t('columns.search')} value={q} onInput={setQ} />
        </div>
      )}
      <div class={css.editorTable}>
        <Table caption={t('columns.title')} columns={list} rows={found.slice(0, shown)} rowKey={(row) => row.name} />
      </div>
      {found.length > shown && (
        <div>
          <Button small onClick={() => setShown(shown + 4 * portion)}>
            {t('columns.more', { count: found.length - shown })}
          </Button>
        </div>
      )}
    </div>
  );
}
