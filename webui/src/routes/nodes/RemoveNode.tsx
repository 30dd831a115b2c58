// Taking a node out for good. First what that would mean, by the box's own count; then its name, typed.
import '../../messages/en-remove';
import { useState } from 'preact/hooks';
import { ApiError } from '../../lib/api';
import { getRemoval, removeNode } from '../../lib/api-cluster';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { nodes, setNodes, toast } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import type { Removal } from '../../lib/types-cluster';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Dialog } from '../../ui/Dialog';
import { Choice, TextField } from '../../ui/Field';
import { Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';

// What a tick is asked for. "thin": nothing is lost, but a second mishap could lose something.
export function dangerOf(removal: Removal): 'loss' | 'thin' | null {
  if (removal.last_copies > 0 || !removal.quorum_after) return 'loss';
  return removal.below_wanted > 0 ? 'thin' : null;
}

function Preview({ removal }: { removal: Removal }) {
  const danger = dangerOf(removal);
  return (
    <>
      <Note tone={danger === 'loss' ? 'critical' : danger ? 'warning' : 'ok'} live>
        <strong>{removal.sentence}</strong>
        {danger === 'loss' && <p>{t('node.remove_unsafe')}</p>}
      </Note>
      <p>{t('node.remove_files', { count: removal.files, size: f.bytes(removal.bytes) })}</p>
    </>
  );
}

export default function RemoveNode({ node, onClose }: { node: BoxNode; onClose: () => void }) {
  const preview = useLoad(() => getRemoval(node.id), [node.id]);
  const [name, setName] = useState('');
  const [accepted, setAccepted] = useState(false);
  const [refused, setRefused] = useState(false);
  const action = useAction();
  const danger = preview.value && dangerOf(preview.value);
  const unsafe = refused || !!danger;
  const ready = preview.value !== null && name.trim() === node.name && (!unsafe || accepted);
  const remove = (): void => {
    if (!ready) return;
    void action.run(async () => {
      try {
        await removeNode(node.id, unsafe && accepted, preview.value?.last_copies ?? 0);
      } catch (error) {
        // It became unsafe, or loses more, since the preview: show the present one and ask for the tick anew.
        if (error instanceof ApiError && error.code === 'unsafe_removal') {
          setRefused(true);
          setAccepted(false);
          preview.reload();
        }
        throw error;
      }
      const known = nodes.value.get(node.id);
      if (known) setNodes(new Map(nodes.value).set(node.id, { ...known, state: 'removed' }).values());
      toast(t('node.removed', { name: node.name }), { tone: 'ok' });
      onClose();
    });
  };
  return (
    <Dialog
      title={t('node.remove_title', { name: node.name })}
      onClose={onClose}
      onSubmit={remove}
      footer={
        <>
          <Button onClick={onClose} data-autofocus="">
            {t('action.cancel')}
          </Button>
          <Button type="submit" variant="danger" busy={action.busy} disabled={!ready}>
            {t('node.remove_action')}
          </Button>
        </>
      }
    >
      {preview.error && (
        <Note tone="critical" live>
          {preview.error}
        </Note>
      )}
      {preview.value ? <Preview removal={preview.value} /> : !preview.error && <p role="status">{t('node.remove_reading')}</p>}
      <p>{t('node.remove_text')}</p>
      <Problem error={action.error} />
      {unsafe && <Choice kind="checkbox" card label={t(danger === 'thin' ? 'node.remove_accept_thin' : 'node.remove_accept')} checked={accepted} onChange={setAccepted} />}
      <TextField label={t('node.remove_type', { name: node.name })} value={name} onInput={setName} autocomplete="off" />
    </Dialog>
  );
}
