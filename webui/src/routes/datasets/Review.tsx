// "How Samovar understood it": what the file is, what its columns are and why, and everything about it corrected before
// the data set is made.
import { useState } from 'preact/hooks';
import { createDataset, inspectUpload } from '../../lib/api-data';
import * as f from '../../lib/format';
import { t, tMaybe } from '../../lib/messages';
import type { Transfer } from '../../lib/stores';
import type { Detection, Hints } from '../../lib/types-data';
import { cancel, usedBy } from '../../lib/uploads';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { TextField } from '../../ui/Field';
import { fieldError, Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { changesOf, checkNames, ColumnEditor, type Edits } from './ColumnEditor';
import { nameFromFile } from './names';
import { ReadingOptions, signName } from './ReadingOptions';
import css from './datasets.module.css';

function Summary({ found }: { found: Detection }) {
  const { options } = found;
  const parts = [
    tMaybe(`format.${options.format}`, options.format),
    options.compression !== 'none' && t('review.packed', { how: options.compression }),
    options.format === 'csv' && t('review.separated', { sign: signName(options.delimiter) }),
    options.format === 'csv' && t(options.header ? 'review.header' : 'review.no_header'),
    tMaybe(`encoding.${options.encoding}`, options.encoding),
    options.decimal === ',' && t('review.decimal_comma'),
    options.skip_lines > 0 && t('review.skipped', { count: options.skip_lines }),
  ];
  return (
    <p>
      {f.join(parts.filter((part): part is string => !!part))}
      {'. '}
      {t('review.sample', { count: found.sample_rows, rows: f.number(found.sample_rows), columns: f.number(found.columns.length) })}
    </p>
  );
}

export function Review({ one }: { one: Transfer }) {
  const [hints, setHints] = useState<Hints>({});
  const [edits, setEdits] = useState<Edits>({});
  const [name, setName] = useState(nameFromFile(one.name));
  const loaded = useLoad(() => inspectUpload(one.id, hints), [JSON.stringify(hints)]);
  const creating = useAction();
  const removing = useAction(true);
  const found = loaded.value;
  const clash = found ? checkNames(found.columns, edits) : '';
  const create = (event: Event): void => {
    event.preventDefault();
    if (!found || clash) return;
    void creating.run(async () => {
      const columns = changesOf(found.columns, edits);
      const given = Object.keys(hints).length > 0;
      const made = await createDataset({ upload_id: one.id, name: name.trim(), ...(given && { hints }), ...(columns.length > 0 && { columns }) });
      usedBy(one.key, made.id);
    });
  };
  return (
    <form class={css.review} novalidate aria-label={t('review.title_of', { name: one.name })} onSubmit={create} aria-busy={loaded.loading || undefined}>
      <h4>{t('review.title')}</h4>
      {loaded.error && (
        <Note tone="critical" live>
          {loaded.error}
        </Note>
      )}
      {!found && loaded.loading && <p class={css.sub} role="status">{t('review.looking')}</p>}
      {found && (
        <>
          <Summary found={found} />
          {found.notes.map((note) => (
            <Note key={note} tone="warning">
              {note}
            </Note>
          ))}
        </>
      )}
      {(found || loaded.error) && <ReadingOptions hints={hints} options={found?.options ?? null} onChange={setHints} busy={loaded.loading} />}
      {found && <ColumnEditor columns={found.columns} edits={edits} onChange={setEdits} rows={found.sample_rows} />}
      {clash && (
        <Note tone="critical" live>
          {clash}
        </Note>
      )}
      <div class={css.nameField}>
        <TextField label={t('review.name')} value={name} onInput={setName} maxLength={120} error={fieldError(creating.error, '/name')} />
      </div>
      <Problem error={creating.error} />
      <div class={css.row}>
        <Button type="submit" variant="primary" busy={creating.busy} disabled={!found || loaded.loading || !name.trim() || !!clash}>
          {t('review.create')}
        </Button>
        <Button variant="quiet" busy={removing.busy} onClick={() => void removing.run(() => cancel(one.key))}>
          {t('upload.discard')}
        </Button>
      </div>
    </form>
  );
}
