// Name and description of a data set.
import { useState } from 'preact/hooks';
import { patchDataset } from '../../lib/api-data';
import { t } from '../../lib/messages';
import type { DatasetDetail } from '../../lib/types-data';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { TextArea, TextField } from '../../ui/Field';
import { fieldError, Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';

export function EditDataset({ set, etag, onClose, onDone }: { set: DatasetDetail; etag: string; onClose: () => void; onDone: () => void }) {
  const [name, setName] = useState(set.name);
  const [description, setDescription] = useState(set.description);
  const action = useAction();
  const save = (): void =>
    void action.run(async () => {
      await patchDataset(set.id, { name: name.trim(), description: description.trim() }, etag);
      onDone();
      onClose();
    });
  return (
    <Dialog
      title={t('dataset.edit_title', { name: set.name })}
      onClose={onClose}
      onSubmit={save}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button type="submit" variant="primary" busy={action.busy} disabled={!name.trim()}>
            {t('action.save')}
          </Button>
        </>
      }
    >
      <Problem error={action.error} />
      <TextField label={t('dataset.name')} value={name} onInput={setName} maxLength={120} error={fieldError(action.error, '/name')} autoFocus />
      <TextArea label={t('dataset.description')} value={description} onInput={setDescription} maxLength={2000} error={fieldError(action.error, '/description')} />
    </Dialog>
  );
}
