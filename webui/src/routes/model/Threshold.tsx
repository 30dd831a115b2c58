// From which probability on the answer is yes: what each choice gets right and wrong on rows the model never saw.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { Evaluation, ThresholdRow } from '../../lib/types-models';
import { Figure } from './Figure';
import { Square, type Point } from './Square';
import css from '../models/models.module.css';

const ratio = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null);
export const rates = ({ tp, fp, tn, fn }: ThresholdRow) => ({ recall: ratio(tp, tp + fn), precision: ratio(tp, tp + fp), specificity: ratio(tn, tn + fp), accuracy: ratio(tp + tn, tp + fp + tn + fn) });

// The row nearest to a threshold; the box tells a hundred of them.
export function nearest(rows: readonly ThresholdRow[], threshold: number): ThresholdRow | undefined {
  return rows.reduce<ThresholdRow | undefined>((best, row) => (!best || Math.abs(row.threshold - threshold) < Math.abs(best.threshold - threshold) ? row : best), undefined);
}

export function Matrix({ classes, counts }: { classes: readonly string[]; counts: readonly (readonly number[])[] }) {
  return (
    // A scrolling area must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div class={css.scroll} tabIndex={0} role="region" aria-label={t('confusion.title')}>
      <table class={css.matrix}>
        <caption class="visually-hidden">{t('confusion.title')}</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">{t('confusion.title')}</span>
            </th>
            {classes.map((name) => (
              <th key={name} scope="col">
                {t('confusion.said')} <span translate={false}>{name}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {counts.map((row, index) => {
            const total = row.reduce((a, b) => a + b, 0);
            return (
              <tr key={index}>
                <th scope="row">
                  {t('confusion.was')} <span translate={false}>{classes[index]}</span>
                </th>
                {row.map((count, column) => (
                  <td key={column} data-right={column === index}>
                    <b>{f.number(count)}</b> <span class={css.sub}>{f.percent(ratio(count, total), 1)}</span>
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

export function Threshold({ evaluation, classes, children }: { evaluation: Evaluation; classes: readonly string[]; children?: (now: ThresholdRow) => ComponentChildren }) {
  const rows = evaluation.thresholds ?? [];
  const [at, setAt] = useState(0.5);
  const now = nearest(rows, at);
  if (!now) return null;
  const told = rates(now);
  return (
    <>
      <div class={css.figure}>
        <h2>{t('confusion.title')}</h2>
        <label class={css.slider}>
          <span>
            {t('confusion.threshold', { label: classes[1] ?? '' })} <b>{f.percent(now.threshold)}</b>
          </span>
          <input type="range" min="0" max="1" step="0.01" value={at} onInput={(event) => setAt(Number(event.currentTarget.value))} />
        </label>
        <Matrix classes={classes} counts={[[now.tn, now.fp], [now.fn, now.tp]]} />
        <dl class={css.figures}>
          {(['recall', 'precision', 'specificity', 'accuracy'] as const).map((name) => (
            <div key={name}>
              <dt>{t(`rate.${name}`)}</dt>
              <dd>{f.percent(told[name], 1)}</dd>
            </div>
          ))}
        </dl>
      </div>
      {children?.(now)}
    </>
  );
}

const three = (value: number): string => f.number(value, 3);
const table = (points: readonly Point[]): string[][] => points.map(([a, b]) => [three(a), three(b)]);

export function Roc({ line, auc, now }: { line: readonly Point[]; auc: string; now: ThresholdRow }) {
  const { recall, specificity } = rates(now);
  return (
    <Figure title={t('roc.title')} text={t('roc.text')} head={[t('roc.across'), t('roc.up')]} rows={table(line)}>
      <Square label={t('roc.label', { auc })} across={t('roc.across')} up={t('roc.up')} line={line} rest={[[0, 0], [1, 1]]} mark={recall === null || specificity === null ? null : [1 - specificity, recall]} />
    </Figure>
  );
}
export function PrecisionRecall({ line, share, now }: { line: readonly Point[]; share: number; now: ThresholdRow }) {
  const { recall, precision } = rates(now);
  return (
    <Figure title={t('pr.title')} text={t('pr.text')} head={[t('pr.across'), t('pr.up')]} rows={table(line)}>
      <Square label={t('pr.label', { share: f.percent(share, 1) })} across={t('pr.across')} up={t('pr.up')} line={line} rest={[[0, share], [1, share]]} mark={recall === null || precision === null ? null : [recall, precision]} />
    </Figure>
  );
}
export function Calibration({ rows }: { rows: NonNullable<Evaluation['calibration']> }) {
  const used = rows.filter((row) => row.rows > 0);
  const worst = used.reduce((most, row) => Math.max(most, Math.abs(row.predicted - row.observed)), 0);
  return (
    <Figure
      title={t('calibration.title')}
      text={t('calibration.text')}
      head={[t('calibration.across'), t('calibration.up'), t('dataset.rows')]}
      rows={used.map((row) => [three(row.predicted), three(row.observed), f.number(row.rows)])}
    >
      <Square dots label={t('calibration.label', { worst: f.percent(worst, 1) })} across={t('calibration.across')} up={t('calibration.up')} line={used.map((row): Point => [row.predicted, row.observed])} rest={[[0, 0], [1, 1]]} />
    </Figure>
  );
}
