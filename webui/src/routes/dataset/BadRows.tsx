// Rows that could not be read: where they are, why, and all of them to take along.
import * as data from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { DatasetDetail } from '../../lib/types-data';
import { LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Table } from '../../ui/Table';
import { useLoad } from '../../ui/useLoad';
import { parseCsv } from './csv';
import css from './dataset.module.css';

const shown = 100;

export function BadRows({ set, version }: { set: DatasetDetail; version: number }) {
  const allowed = set.may_read_rows;
  const loaded = useLoad(() => (allowed ? data.getBadRows(set.id, version) : Promise.resolve('')), [set.id, version, allowed]);
  const [, ...lines] = parseCsv(loaded.value ?? '', shown + 1);
  if (!allowed) {
    return (
      <Card>
        <EmptyState icon="lock" title={t('rows.denied')}>
          {t('rows.denied_text', { owner: set.owner })}
        </EmptyState>
      </Card>
    );
  }
  return (
    <Card
      flush
      title={t('errors.title', { count: set.bad_rows, rows: f.number(set.bad_rows) })}
      actions={
        <LinkButton small icon="download" href={data.badRowsAddress(set.id, version)} download={`${set.name}-errors.csv`}>
          {t('errors.download')}
        </LinkButton>
      }
    >
      <p class={css.text}>{t('errors.text')}</p>
      {loaded.error && (
        <Note tone="critical" live>
          {loaded.error}
        </Note>
      )}
      <Table
        caption={t('dataset.tab.errors')}
        rows={lines.map((cells, index) => ({ index, line: cells[0] ?? '', why: cells[1] ?? '', text: cells[2] ?? '' }))}
        rowKey={(row) => row.index}
        columns={[
          { id: 'line', title: t('errors.line'), main: true, cell: (row) => row.line },
          { id: 'why', title: t('errors.reason'), cell: (row) => row.why },
          { id: 'text', title: t('errors.content'), cell: (row) => <code class={css.raw}>{row.text}</code> },
        ]}
      />
      {set.bad_rows > lines.length && lines.length > 0 && <p class={css.text}>{t('errors.first', { count: lines.length })}</p>}
    </Card>
  );
}
