// A chart as numbers, for those who do not look at pictures or want the exact value. Fetched when first asked for.
import { dateTimeExact } from '../lib/format';
import { t } from '../lib/messages';
import type { ChartProps } from './Chart';
import { Table } from './Table';
import css from './Chart.module.css';

const tableRows = 120;

export default function ChartTable({ title, times, series, format, x, named }: ChartProps) {
  const first = Math.max(0, times.length - tableRows);
  const rows = times.slice(first).map((at, index) => ({ at, index: first + index }));
  return (
    // A scrolling area must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div class={css.table} tabIndex={0} role="region" aria-label={t('chart.table_of', { title })}>
      <Table
        caption={title}
        rowKey={(row) => row.at}
        sortBy="-time"
        rows={rows}
        columns={[
          { id: 'time', title: x?.title ?? t('chart.time'), main: true, sort: (row) => row.at, cell: (row) => (x?.format ?? dateTimeExact)(row.at) },
          ...series.map((one, n) => ({
            id: `s${n}`,
            title: one.label,
            named,
            numeric: true,
            cell: (row: { index: number }) => format(one.values[row.index]),
          })),
        ]}
      />
    </div>
  );
}
