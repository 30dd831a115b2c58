// Where the time of each worker went, and of all of them on average: the last that each told.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { nodes } from '../../lib/stores';
import type { Columnar, WorkerCurves } from '../../lib/types-models';
import { Card } from '../../ui/Card';
import { Table, type Column } from '../../ui/Table';
import css from '../models/models.module.css';

export const phases = ['read_seconds', 'decrypt_seconds', 'data_wait_seconds', 'encode_seconds', 'step_seconds', 'exchange_seconds', 'wait_seconds', 'tell_seconds'] as const;
const others = ['samples_per_second', 'staleness', 'valid_loss'] as const;
type Told = (typeof phases)[number] | (typeof others)[number];

export interface PhaseRow {
  id: string;
  who: string;
  values: Partial<Record<Told, number>>;
}

export function last({ names, cols }: Columnar, name: string): number | undefined {
  return cols[names.indexOf(name)]?.findLast((value) => value !== null) ?? undefined;
}

// One row per worker that told something; the mean first when there are several.
export function phaseRows(workers: readonly WorkerCurves[], nameOf: (id: string) => string): PhaseRow[] {
  const rows = workers
    .map((one) => ({ id: String(one.number), who: nameOf(one.node_id), values: Object.fromEntries([...phases, ...others].map((name) => [name, last(one, name)]).filter(([, value]) => value !== undefined)) as PhaseRow['values'] }))
    .filter((row) => row.values.step_seconds !== undefined);
  if (rows.length < 2) return rows;
  const mean: PhaseRow['values'] = {};
  for (const name of [...phases, ...others]) {
    const told = rows.map((row) => row.values[name]).filter((value) => value !== undefined);
    if (told.length > 0) mean[name] = told.reduce((sum, value) => sum + value, 0) / told.length;
  }
  return [{ id: 'mean', who: t('curve.mean'), values: mean }, ...rows];
}

const shown = (value: number | undefined, digits: number): string => (value === undefined ? '–' : f.number(value, digits));
const columns: readonly Column<PhaseRow>[] = [
  { id: 'who', title: t('worker.node'), main: true, cell: (row) => <span translate={false}>{row.who}</span> },
  { id: 'rate', title: t('worker.rate'), numeric: true, cell: (row) => shown(row.values.samples_per_second, 0) },
  ...phases.map((name): Column<PhaseRow> => ({ id: name, title: t(`phase.${name}`), numeric: true, cell: (row) => shown(row.values[name], 2) })),
  { id: 'staleness', title: t('phase.staleness'), numeric: true, cell: (row) => shown(row.values.staleness, 1) },
  { id: 'valid', title: t('phase.valid_loss'), numeric: true, cell: (row) => shown(row.values.valid_loss, 4) },
];

export function Phases({ workers }: { workers: readonly WorkerCurves[] }) {
  const rows = phaseRows(workers, (id) => nodes.value.get(id)?.name ?? id.slice(0, 4).toUpperCase());
  if (rows.length === 0) return null;
  return (
    <Card flush title={t('phase.title')}>
      <Table dense caption={t('phase.title')} columns={columns} rows={rows} rowKey={(row) => row.id} />
      <p class={css.cardText}>{t('phase.text')}</p>
    </Card>
  );
}
