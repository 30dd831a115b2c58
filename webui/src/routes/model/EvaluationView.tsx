// How good a version is on rows it never saw, against the plainest guess; and for whom it is better or worse.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { Evaluation } from '../../lib/types-models';
import { Card, Note } from '../../ui/Card';
import { Table, type Column } from '../../ui/Table';
import { className, interval, measured, metricName, metricRows, metricValue } from '../models/words';
import { Figure } from './Figure';
import { Calibration, Matrix, PrecisionRecall, Roc, Threshold } from './Threshold';
import css from '../models/models.module.css';

function Metrics({ told }: { told: Evaluation }) {
  const rows = metricRows(told.metrics.test ?? told.metrics.valid);
  const part = (which: 'valid' | 'train', name: string): string => {
    const value = measured(told.metrics[which]?.[name]);
    return value ? metricValue(name, value.value) : '–';
  };
  type Row = (typeof rows)[number];
  const columns: Column<Row>[] = [
    { id: 'name', title: t('metric.title'), main: true, cell: (row) => <span title={metricName(row.name)}>{metricName(row.name)}</span> },
    { id: 'test', title: t('metric.test'), numeric: true, cell: (row) => <b>{metricValue(row.name, row.told.value)}</b> },
    { id: 'interval', title: t('metric.interval_title'), cell: (row) => interval(row.name, row.told) },
    { id: 'baseline', title: t('metric.baseline'), numeric: true, cell: (row) => metricValue(row.name, told.baseline?.[row.name]) },
    { id: 'valid', title: t('metric.valid'), numeric: true, cell: (row) => part('valid', row.name) },
    { id: 'train', title: t('metric.train'), numeric: true, cell: (row) => part('train', row.name) },
  ];
  return (
    <Card flush title={t('evaluation.metrics')}>
      <p class={css.cardText}>{t('evaluation.rows', { train: f.number(told.rows.train), valid: f.number(told.rows.valid), test: f.number(told.rows.test) })}</p>
      <Table caption={t('evaluation.metrics')} columns={columns} rows={rows} rowKey={(row) => row.name} />
    </Card>
  );
}

function Subgroups({ told }: { told: Evaluation }) {
  const rows = told.subgroups ?? [];
  if (rows.length === 0) return null;
  const names = metricRows(rows[0]!.metrics).map((row) => row.name).slice(0, 4);
  const columns: Column<(typeof rows)[number]>[] = [
    { id: 'group', title: t('subgroup.group'), main: true, sort: (row) => `${row.input} ${row.level}`, cell: (row) => <span translate={false}>{t('subgroup.is', { input: row.input, level: row.level })}</span> },
    { id: 'rows', title: t('dataset.rows'), numeric: true, sort: (row) => row.rows, cell: (row) => f.number(row.rows) },
    ...names.map((name): Column<(typeof rows)[number]> => ({
      id: name,
      title: metricName(name),
      numeric: true,
      sort: (row) => measured(row.metrics[name])?.value ?? null,
      cell: (row) => {
        const value = measured(row.metrics[name]);
        return value ? metricValue(name, value.value) : '–';
      },
    })),
  ];
  return (
    <Card flush title={t('subgroup.title')}>
      <p class={css.cardText}>{t('subgroup.text')}</p>
      <Table caption={t('subgroup.title')} columns={columns} rows={rows} rowKey={(row) => `${row.input} ${row.level}`} />
    </Card>
  );
}

function Lift({ rows }: { rows: NonNullable<Evaluation['lift']> }) {
  return (
    <Card flush title={t('lift.title')}>
      <p class={css.cardText}>{t('lift.text')}</p>
      <Table
        caption={t('lift.title')}
        rows={rows}
        rowKey={(row) => row.share}
        columns={[
          { id: 'share', title: t('lift.share'), main: true, cell: (row) => f.percent(row.share, row.share < 0.01 ? 1 : 0) },
          { id: 'lift', title: t('lift.lift'), numeric: true, cell: (row) => t('lift.times', { times: f.number(row.lift, 2) }) },
        ]}
      />
    </Card>
  );
}

export function EvaluationView({ told, classes }: { told: Evaluation; classes: readonly string[] }) {
  const auc = measured(told.metrics.test?.auc);
  const known = told.confusion?.classes ?? classes;
  const names = known.map((name) => className(name, known));
  return (
    <>
      {(told.leakage ?? []).map((sentence) => (
        <Note key={sentence} tone="warning">
          {sentence}
        </Note>
      ))}
      {(told.notes ?? []).map((sentence) => (
        <Note key={sentence} tone="info">
          {sentence}
        </Note>
      ))}
      <Metrics told={told} />
      <div class={css.squares}>
        {(told.thresholds?.length ?? 0) > 0 && (
          <Threshold evaluation={told} classes={names.length === 2 ? names : [t('type.no'), t('type.yes')]}>
            {(now) => (
              <>
                {told.roc && <Roc line={told.roc} auc={auc ? metricValue('auc', auc.value) : '–'} now={now} />}
                {told.pr && <PrecisionRecall line={told.pr} share={(now.tp + now.fn) / Math.max(1, now.tp + now.fn + now.tn + now.fp)} now={now} />}
              </>
            )}
          </Threshold>
        )}
        {told.calibration && told.task === 'binary' && <Calibration rows={told.calibration} />}
      </div>
      {told.calibration && told.task !== 'binary' && <Means rows={told.calibration} />}
      {told.confusion && (told.thresholds?.length ?? 0) === 0 && (
        <Card title={t('confusion.title')}>
          <Matrix classes={names} counts={told.confusion.counts} />
        </Card>
      )}
      <Subgroups told={told} />
      {(told.lift?.length ?? 0) > 0 && <Lift rows={told.lift!} />}
    </>
  );
}

// For numbers: what was predicted and what was seen, in ten groups of equal size.
function Means({ rows }: { rows: NonNullable<Evaluation['calibration']> }) {
  const used = rows.filter((row) => row.rows > 0);
  const top = Math.max(1e-9, ...used.flatMap((row) => [row.predicted, row.observed]).map(Math.abs));
  return (
    <Figure
      title={t('calibration.title')}
      text={t('calibration.text_number')}
      head={[t('calibration.predicted'), t('calibration.observed'), t('dataset.rows')]}
      rows={used.map((row) => [f.figure(row.predicted), f.figure(row.observed), f.number(row.rows)])}
    >
      <svg class={css.pairs} viewBox={`0 0 ${used.length * 10} 100`} preserveAspectRatio="none" role="img" aria-label={t('calibration.text_number')}>
        {used.map((row, index) => (
          <g key={index}>
            <path class={css.pairA} d={`M${index * 10 + 1} 100v-${((Math.max(0, row.predicted) / top) * 100).toFixed(1)}h4V100z`} />
            <path class={css.pairB} d={`M${index * 10 + 5} 100v-${((Math.max(0, row.observed) / top) * 100).toFixed(1)}h4V100z`} />
          </g>
        ))}
      </svg>
      <ul class={css.key}>
        <li data-a="">{t('calibration.predicted')}</li>
        <li>{t('calibration.observed')}</li>
      </ul>
    </Figure>
  );
}
