// A sortable table. On a phone each row becomes a block with its column names beside the values; the roles are
// spelt out because browsers drop the meaning of a table whose rows are laid out as blocks.
import { Fragment, type ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { t } from '../lib/messages';
import { Button } from './Button';
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
  named?: boolean; // the title is a name: never translated
}

interface TableProps<R> {
  caption: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  rowKey: (row: R) => string | number;
  sortBy?: string; // "-name" sorts downwards
  onSort?: (sort: string) => void;
  dense?: boolean; // many columns: less space between them
  faded?: (row: R) => boolean; // what it says is no longer so
  // A row that has more to say gets a button; what it says opens beneath the row, over its whole width.
  expand?: { title: string; label: (row: R) => string; content: (row: R) => ComponentChildren };
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

function Cell<R>({ column, row }: { column: Column<R>; row: R }) {
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
    <th role="rowheader" scope="row" class={`${classes} ${css.main}`}>
      {inside}
    </th>
  ) : (
    <td role="cell" class={classes}>
      {inside}
    </td>
  );
}

export function Table<R>({ caption, columns, rows, rowKey, sortBy = '', onSort, dense, faded, expand }: TableProps<R>) {
  const [open, setOpen] = useState<ReadonlySet<string | number>>(new Set());
  const toggle = (key: string | number): void => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  const [own, setOwn] = useState(sortBy);
  const sort = onSort ? sortBy : own;
  const choose = (id: string): void => (onSort ?? setOwn)(sort === id ? `-${id}` : id);
  return (
    <div class={dense ? css.dense : css.wrap}>
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
                    <span translate={!column.named}>{column.title}</span>
                  )}
                </th>
              );
            })}
            {expand && (
              <th role="columnheader" scope="col">
                <span class="visually-hidden">{expand.title}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {sortRows(rows, columns, sort).map((row) => {
            const key = rowKey(row);
            return (
              <Fragment key={key}>
                <tr role="row" data-faded={faded?.(row) || undefined}>
                  {columns.map((column) => (
                    <Cell key={column.id} column={column} row={row} />
                  ))}
                  {expand && (
                    <td role="cell" class={css.actions}>
                      <span class={css.value}>
                        <Button small variant="quiet" aria-expanded={open.has(key)} aria-label={expand.label(row)} onClick={() => toggle(key)}>
                          {expand.title}
                        </Button>
                      </span>
                    </td>
                  )}
                </tr>
                {expand && open.has(key) && (
                  <tr role="row" class={css.expanded}>
                    <td role="cell" colSpan={columns.length + 1}>
                      {expand.content(row)}
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
