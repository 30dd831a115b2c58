// What the model goes by: how much each input matters, and every coefficient.
import { useState } from 'preact/hooks';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { Coefficient, Evaluation } from '../../lib/types-models';
import { Button } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { TextField } from '../../ui/Field';
import { sortRows, Table, type Column } from '../../ui/Table';
import { Bar } from './Bar';
import { Figure } from './Figure';
import css from '../models/models.module.css';

const most = 25;
const portion = 50;

export function Importance({ told }: { told: Evaluation }) {
  const list = told.importance ?? [];
  if (list.length === 0) return <EmptyState icon="chart" title={t('importance.none')} />;
  // By what shuffling an input costs, where that was tried; else by its standardised weights.
  const by = list.some((one) => typeof one.permutation === 'number') ? 'permutation' : 'standardised';
  const rows = list.toSorted((a, b) => Math.abs(b[by] ?? 0) - Math.abs(a[by] ?? 0));
  const top = Math.max(1e-12, Math.abs(rows[0]?.[by] ?? 0));
  return (
    <Figure
      title={t('importance.title')}
      text={t(`importance.${by}`)}
      head={[t('columns.name'), t('importance.permutation_title'), t('importance.standardised_title')]}
      rows={rows.map((one) => [one.input, f.figure(one.permutation), f.figure(one.standardised)])}
    >
      <ol class={css.bars}>
        {rows.slice(0, most).map((one) => (
          <li key={one.input}>
            <span translate={false}>{one.input}</span>
            <Bar share={Math.max(0, one[by] ?? 0) / top} />
            <b>{f.figure(one[by])}</b>
          </li>
        ))}
      </ol>
      {rows.length > most && <p class={css.sub}>{t('importance.more', { count: rows.length - most })}</p>}
    </Figure>
  );
}

export function Coefficients({ told }: { told: Evaluation }) {
  const [q, setQ] = useState('');
  const [sort, setSort] = useState('size');
  const [shown, setShown] = useState(portion);
  const all = told.coefficients ?? [];
  if (all.length === 0) return null;
  const tested = all.some((one) => typeof one.se === 'number');
  const found = all.filter((one) => `${one.input} ${one.level ?? ''}`.toLowerCase().includes(q.toLowerCase()));
  const number = (id: 'estimate' | 'se' | 'z', title: string): Column<Coefficient> => ({ id, title, numeric: true, sort: (row) => row[id] ?? null, cell: (row) => f.figure(row[id]) });
  const columns: Column<Coefficient>[] = [
    {
      id: 'name',
      title: t('columns.name'),
      main: true,
      sort: (row) => `${row.input} ${row.level ?? ''}`,
      cell: (row) => <span translate={false}>{row.level ? t('subgroup.is', { input: row.input, level: row.level }) : row.input}</span>,
    },
    { ...number('estimate', t('coefficient.estimate')) },
    ...(tested
      ? [
          number('se', t('coefficient.se')),
          number('z', t('coefficient.z')),
          { id: 'p', title: t('coefficient.p'), numeric: true, sort: (row: Coefficient) => row.p ?? null, cell: (row: Coefficient) => (typeof row.p !== 'number' ? '–' : row.p < 0.001 ? t('coefficient.small') : f.number(row.p, 3)) },
          { id: 'interval', title: t('metric.interval_title'), cell: (row: Coefficient) => (typeof row.low === 'number' ? t('metric.interval', { low: f.figure(row.low), high: f.figure(row.high) }) : '–') },
        ]
      : []),
  ];
  const sorted = sort === 'size' ? found.toSorted((a, b) => Math.abs(b.estimate) - Math.abs(a.estimate)) : sortRows(found, columns, sort);
  return (
    <Card flush title={t('coefficient.title')}>
      <div class={css.tools}>
        <TextField type="search" label={t('columns.search')} value={q} onInput={setQ} search />
      </div>
      <p class={css.cardText}>
        {typeof told.intercept === 'number' && `${t('coefficient.intercept', { value: f.figure(told.intercept) })} `}
        {t('coefficient.text')}
      </p>
      <Table caption={t('coefficient.title')} columns={columns} rows={sorted.slice(0, shown)} rowKey={(row) => `${row.input} ${row.level ?? ''}`} sortBy={sort} onSort={setSort} />
      {found.length > shown && (
        <div class={css.more}>
          <Button onClick={() => setShown(shown + 4 * portion)}>{t('columns.more', { count: found.length - shown })}</Button>
        </div>
      )}
    </Card>
  );
}
