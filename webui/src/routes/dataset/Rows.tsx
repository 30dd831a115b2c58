// The first rows as they stand in the file. Masked cells arrive masked; who may not read rows is told so.
import { useState } from 'preact/hooks';
import { getPreview } from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { DatasetDetail, Preview } from '../../lib/types-data';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Icon } from '../../ui/Icon';
import { useLoad } from '../../ui/useLoad';
import css from './dataset.module.css';

const portion = 40;

function Grid({ preview, name }: { preview: Preview; name: string }) {
  const [shown, setShown] = useState(portion);
  const columns = preview.columns.slice(0, shown);
  return (
    <>
      {/* A scrolling area must be reachable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div class={css.gridScroll} tabIndex={0} role="region" aria-label={t('rows.of', { name })}>
        <table class={css.grid}>
          <caption class="visually-hidden">{t('rows.of', { name })}</caption>
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">{t('rows.number')}</span>
              </th>
              {columns.map((column) => (
                <th key={column.name} scope="col" data-numeric={column.type === 'integer' || column.type === 'real'}>
                  <span translate={false}>{column.name}</span>
                  <span class={css.sub}>
                    {column.sensitive && <Icon name="lock" size={12} />} {t(column.sensitive ? 'rows.masked' : `type.${column.type}`)}
                  </span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {preview.rows.map((row, index) => (
              <tr key={index}>
                <th scope="row">{f.number(index + 1)}</th>
                {columns.map((column, at) => (
                  <td key={column.name} data-numeric={column.type === 'integer' || column.type === 'real'} translate={false}>
                    {row[at] === null || row[at] === undefined ? <span class={css.absent}>{t('rows.missing')}</span> : row[at]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {preview.columns.length > shown && (
        <div class={css.more}>
          <Button onClick={() => setShown(shown + 4 * portion)}>{t('columns.more', { count: preview.columns.length - shown })}</Button>
        </div>
      )}
    </>
  );
}

export function Rows({ set, version }: { set: DatasetDetail; version: number }) {
  const allowed = set.may_read_rows;
  const loaded = useLoad(() => (allowed ? getPreview(set.id, version) : Promise.resolve(null)), [set.id, version, allowed, set.revision]);
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
    <Card flush title={t('rows.title', { count: loaded.value?.rows.length ?? 0 })}>
      {loaded.error && (
        <Note tone="critical" live>
          {loaded.error}
        </Note>
      )}
      {loaded.value && <Grid preview={loaded.value} name={set.name} />}
    </Card>
  );
}
