// A sortable table. On a phone each row becomes a block with its column names beside the values; the roles are
// spelt out because browsers drop the meaning of a table whose rows are laid out as blocks.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../lib/messages';
import { Icon } from './Icon';
import css from './Table.module.css';

export interface Column<R> {
  id: string;
  title: string;
  cell: (row: R) => ComponentChildren;
  sort?: (row: R) => string | number | null;
  numeric?: boolean;
  main?: boolean; // names the row
  hideTitle?: boolean; // buttons at the end need no heading to see
  nowrap?: boolean;
}

interface TableProps<R> {
  caption: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  rowKey: (row: R) => string | number;
  sortBy?: string; // "-name" sorts downwards
  onSort?: (sort: string) => void;
}

export function compare(a: string | number | null, b: string | number | null): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true, sensitivity: 'base' });
}

export function sortRows<R>(rows: readonly R[], columns: readonly Column<R>[], sort: string): readonly R[] {
  const down = sort.startsWith('-');
  const by = columns.find((column) => column.id === sort.replace('-', ''))?.sort;
  if (!by) return rows;
  return [...rows].sort((a, b) => compare(by(a), by(b)) * (down ? -1 : 1));
}

export function Table<R>({ caption, columns, rows, rowKey, sortBy = '', onSort }: TableProps<R>) {
  const [own, setOwn] = useState(sortBy);
  const sort = onSort ? sortBy : own;
  const choose = (id: string): void => (onSort ?? setOwn)(sort === id ? `-${id}` : id);
  return (
    <div class={css.wrap}>
      <table class={css.table} role="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => {
              const on = sort.replace('-', '') === column.id;
              const direction = !on ? undefined : sort.startsWith('-') ? 'descending' : 'ascending';
              return (
                <th key={column.id} role="columnheader" scope="col" class={column.numeric ? css.numeric : ''} aria-sort={direction}>
                  {column.hideTitle ? (
                    <span class="visually-hidden">{column.title}</span>
                  ) : column.sort ? (
                    <button type="button" class={css.sort} data-on={direction} onClick={() => choose(column.id)} title={t('table.sort', { column: column.title })}>
                      {column.title}
                      <Icon name="chevron" size={12} />
                    </button>
                  ) : (
                    column.title
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {sortRows(rows, columns, sort).map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map((column) => {
                const classes = [column.numeric && css.numeric, column.hideTitle && css.actions, column.nowrap && css.nowrap].filter(Boolean).join(' ');
                const inside = (
                  <>
                    {!column.hideTitle && !column.main && (
                      <span class={css.label} aria-hidden="true">
                        {column.title}
                      </span>
                    )}
                    <span class={css.value}>{column.cell(row)}</span>
                  </>
                );
                return column.main ? (
                  <th key={column.id} role="rowheader" scope="row" class={`${classes} ${css.main}`}>
                    {inside}
                  </th>
                ) : (
                  <td key={column.id} role="cell" class={classes}>
                    {inside}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
