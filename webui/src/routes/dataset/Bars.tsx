// The distribution of a column: bars in a small picture, and large with a table instead if one prefers.
import { useState } from 'preact/hooks';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { ProfileColumn } from '../../lib/types-data';
import { Button } from '../../ui/Button';
import { Meter } from '../../ui/Meter';
import { allDiffer, bins, describeColumn, hasBins, levelBins, valueText, type Bin } from './values';
import css from './dataset.module.css';

const miniBars = 24;

// One path for all bars, 100 high and one unit wide each; a count above zero is never invisible.
export function barsPath(counts: readonly number[]): string {
  const top = counts.reduce((a, b) => Math.max(a, b), 0);
  if (top <= 0) return '';
  return counts
    .map((count, index) => {
      const height = count > 0 ? Math.max(3, (count / top) * 100) : 0;
      return height > 0 ? `M${index + 0.06} 100v-${height.toFixed(1)}h0.88v${height.toFixed(1)}z` : '';
    })
    .join('');
}

function Picture({ counts, label, large }: { counts: readonly number[]; label: string; large?: boolean }) {
  return (
    <svg class={large ? css.large : css.mini} viewBox={`0 0 ${Math.max(1, counts.length)} 100`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={barsPath(counts)} fill="currentColor" />
    </svg>
  );
}

export function Mini({ column, rows, hidden }: { column: ProfileColumn; rows: number; hidden?: boolean }) {
  const list = hasBins(column) ? bins(column) : allDiffer(column) ? [] : levelBins(column).slice(0, miniBars);
  if (list.length === 0) return <span class={css.sub}>{t(hidden ? 'rows.masked' : column.distinct ? 'profile.too_many' : 'profile.none')}</span>;
  return <Picture counts={list.map((one) => one.count)} label={describeColumn(column, rows)} />;
}

function Values({ column, list, total }: { column: ProfileColumn; list: readonly Bin[]; total: number }) {
  return (
    // A scrolling area must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div class={css.scroll} tabIndex={0} role="region" aria-label={t('chart.table_of', { title: column.name })}>
      <table class={css.grid}>
        <caption class="visually-hidden">{t('chart.table_of', { title: column.name })}</caption>
        <thead>
          <tr>
            <th scope="col">{t('profile.value')}</th>
            <th scope="col" data-numeric="true">
              {t('profile.count')}
            </th>
            <th scope="col" data-numeric="true">
              {t('profile.share')}
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map((one, index) => (
            <tr key={index}>
              <th scope="row" data-text="true" translate={false}>
                {one.label}
              </th>
              <td data-numeric="true">{f.number(one.count)}</td>
              <td data-numeric="true">
                <span class={css.level}>
                  <Meter plain fraction={total > 0 ? one.count / total : 0} label={one.label} />
                  <span>{f.percent(total > 0 ? one.count / total : null, 1)}</span>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const quantiles = ['0.01', '0.05', '0.25', '0.5', '0.75', '0.95', '0.99'];

function Facts({ column }: { column: ProfileColumn }) {
  const text = (value: number | string | null | undefined): string => valueText(value, column.type);
  const rows: [string, string][] = [];
  if (column.distinct !== undefined) rows.push([t('profile.distinct'), t(column.distinct_exact === false ? 'profile.about' : 'profile.exactly', { count: f.number(column.distinct) })]);
  const numbers = column.type !== 'boolean';
  if (numbers && column.min !== undefined && column.min !== null) rows.push([t('profile.min'), text(column.min)]);
  if (numbers && column.max !== undefined && column.max !== null) rows.push([t('profile.max'), text(column.max)]);
  if (numbers && typeof column.mean === 'number') rows.push([t('profile.mean'), text(column.mean)]);
  if (numbers && typeof column.sd === 'number' && column.type !== 'time') rows.push([t('profile.sd'), f.figure(column.sd)]);
  for (const q of quantiles) if (numbers && column.quantiles?.[q] !== undefined && column.quantiles[q] !== null) rows.push([t('profile.quantile', { share: f.percent(Number(q)) }), text(column.quantiles[q])]);
  const length = column.length;
  if (length) rows.push([t('profile.length_mean'), f.number(length.mean, 1)]);
  if (length?.min !== undefined) rows.push([t('profile.length'), t('profile.from_to', { from: f.number(length.min), to: f.number(length.max) })]);
  return (
    <dl class={css.facts}>
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function ColumnDetail({ column, rows }: { column: ProfileColumn; rows: number }) {
  const [asTable, setAsTable] = useState(false);
  const drawn = hasBins(column);
  const list = drawn ? bins(column) : allDiffer(column) ? [] : levelBins(column);
  const total = rows - column.missing;
  return (
    <div class={css.detail}>
      {list.length > 0 && (
        <figure class={css.figure} aria-label={t('profile.distribution', { name: column.name })}>
          {drawn && (
            <div class={css.figureHead}>
              <Button variant="quiet" small icon={asTable ? 'chart' : 'table'} aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
                {t('chart.table')}
              </Button>
            </div>
          )}
          {drawn && !asTable ? (
            <>
              <Picture large counts={list.map((one) => one.count)} label={describeColumn(column, rows)} />
              <div class={css.axis} aria-hidden="true">
                <span>{valueText(column.histogram?.edges[0], column.type)}</span>
                <span>{valueText(column.histogram?.edges.at(-1), column.type)}</span>
              </div>
            </>
          ) : (
            <Values column={column} list={list} total={total} />
          )}
        </figure>
      )}
      <Facts column={column} />
    </div>
  );
}
