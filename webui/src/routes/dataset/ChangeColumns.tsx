// Types and names of a data set, changed: the box reads the kept source again and makes a new version.
import { useState } from 'preact/hooks';
import { putSchema } from '../../lib/api-data';
import { t } from '../../lib/messages';
import { operations, toast } from '../../lib/stores';
import type { DatasetDetail, SchemaColumn } from '../../lib/types-data';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Dialog } from '../../ui/Dialog';
import { Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { changesOf, checkNames, ColumnEditor, type Edits } from '../datasets/ColumnEditor';

export function ChangeColumns({ set, columns, onClose }: { set: DatasetDetail; columns: readonly SchemaColumn[]; onClose: () => void }) {
  const [edits, setEdits] = useState<Edits>({});
  const action = useAction();
  const changes = changesOf(columns, edits);
  const clash = checkNames(columns, edits);
  const save = (): void => {
    if (changes.length === 0 || clash) return;
    void action.run(async () => {
      const made = await putSchema(set.id, changes);
      if (!operations.value.has(made.id)) operations.value = new Map(operations.value).set(made.id, made);
      toast(t('columns.changing', { version: set.version + 1 }), { tone: 'ok' });
      onClose();
    });
  };
  return (
    <Dialog
      wide
      title={t('columns.change')}
      onClose={onClose}
      onSubmit={save}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button type="submit" variant="primary" busy={action.busy} disabled={changes.length === 0 || !!clash}>
            {t('columns.make_version', { version: set.version + 1 })}
          </Button>
        </>
      }
    >
      <p>{t('columns.change_text')}</p>
      <Problem error={action.error} />
      {clash && (
        <Note tone="critical" live>
          {clash}
        </Note>
      )}
      <ColumnEditor columns={columns} edits={edits} onChange={setEdits} />
    </Dialog>
  );
}
