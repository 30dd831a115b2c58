// Values of a profile as a person reads them, and what its pictures say in words.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { ColumnType, ProfileColumn } from '../../lib/types-data';

type Raw = number | string | null | undefined;

// Times are microseconds since 1970, or already text.
export function valueText(value: Raw, type: ColumnType): string {
  if (value === null || value === undefined) return '–';
  if (type === 'time') {
    const date = typeof value === 'number' ? new Date(value / 1000) : f.toDate(value);
    if (!date || Number.isNaN(date.getTime())) return String(value);
    return date.getTime() % 86_400_000 === 0 ? f.day(date) : f.dateTime(date);
  }
  return typeof value === 'number' ? f.figure(value) : value;
}

// A yes-or-no column has both; its two levels say more than a histogram from 0 to 1.
export const hasBins = (column: ProfileColumn): boolean => !!column.histogram && column.type !== 'boolean';
// Names, numbers, sentences: hardly any value comes twice, so a list of the commonest says nothing.
export const allDiffer = (column: ProfileColumn): boolean => (column.levels?.[0]?.count ?? 0) <= 1 && (column.distinct ?? 0) > 1;

export interface Bin {
  label: string;
  count: number;
}

export function bins(column: ProfileColumn): Bin[] {
  const { histogram, type } = column;
  if (!histogram) return [];
  return histogram.counts.map((count, index) => ({
    count,
    label: t('profile.from_to', { from: valueText(histogram.edges[index], type), to: valueText(histogram.edges[index + 1], type) }),
  }));
}

export function levelBins(column: ProfileColumn): Bin[] {
  const list = (column.levels ?? []).map(({ value, count }) => ({ label: value, count }));
  return column.other ? [...list, { label: t('profile.others'), count: column.other }] : list;
}

// What the picture of a column says to somebody who cannot see it.
export function describeColumn(column: ProfileColumn, rows: number): string {
  if (hasBins(column)) {
    const middle = column.quantiles?.['0.5'];
    return t('profile.describe_range', {
      name: column.name,
      min: valueText(column.min, column.type),
      max: valueText(column.max, column.type),
      median: valueText(middle, column.type),
    });
  }
  const top = (allDiffer(column) ? [] : (column.levels ?? [])).slice(0, 3).map(({ value, count }) => `${value} ${f.percent(rows > 0 ? count / rows : null, 1)}`);
  if (top.length === 0) return t('profile.describe_none', { name: column.name });
  return t('profile.describe_levels', { name: column.name, levels: f.join(top) });
}
