// What is on its way: files being sent, files that have arrived and wait for a look, and the box at work on them.
import { useState } from 'preact/hooks';
import { createDataset } from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { secondsLeft } from '../../lib/rate';
import { operations, shownOperations, toast, transfers, waitsForLook, type Transfer } from '../../lib/stores';
import { attach, cancel, pause, resume, usedBy } from '../../lib/uploads';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Copy } from '../../ui/Copy';
import { Meter } from '../../ui/Meter';
import { share, transferTones } from '../../ui/work';
import { useAction } from '../../ui/useAction';
import { ChooseFile } from './DropZone';
import { nameFromFile } from './names';
import { OperationCard } from './OperationCard';
import { Review } from './Review';
import css from './datasets.module.css';

function progressText(one: Transfer): string {
  const left = one.state === 'sending' ? secondsLeft(one.sent, one.length, one.perSecond) : null;
  return [
    t('upload.of', { sent: f.bytes(one.sent), total: f.bytes(one.length) }),
    one.perSecond !== null && t('upload.speed', { speed: f.bytes(one.perSecond) }),
    left !== null && t('upload.left', { time: f.duration(left) }),
  ]
    .filter(Boolean)
    .join(' · ');
}

function Buttons({ one }: { one: Transfer }) {
  const [wrong, setWrong] = useState(false);
  const action = useAction(true);
  const again = (files: File[]): void => setWrong(!!files[0] && !attach(one.key, files[0]));
  const moving = one.state === 'queued' || one.state === 'sending' || one.state === 'waiting';
  return (
    <>
      <div class={css.row}>
        {moving && (
          <Button small icon="pause" aria-label={t('upload.pause_what', { name: one.name })} onClick={() => pause(one.key)}>
            {t('upload.pause')}
          </Button>
        )}
        {(one.state === 'paused' || one.state === 'failed') && (
          <Button small icon="play" aria-label={t(one.state === 'failed' ? 'upload.retry_what' : 'upload.resume_what', { name: one.name })} onClick={() => resume(one.key)}>
            {t(one.state === 'failed' ? 'action.retry' : 'upload.resume')}
          </Button>
        )}
        {one.state === 'file' && <ChooseFile small primary label={t('upload.choose_same')} describe={t('upload.choose_same_what', { name: one.name })} onFiles={again} />}
        {one.state !== 'elsewhere' && (
          <Button small variant="quiet" busy={action.busy} aria-label={t(one.state === 'file' ? 'upload.discard_what' : 'upload.cancel_what', { name: one.name })} onClick={() => void action.run(() => cancel(one.key))}>
            {t(one.state === 'file' ? 'upload.discard' : 'action.cancel')}
          </Button>
        )}
      </div>
      {wrong && (
        <Note tone="critical" live>
          {t('upload.wrong_file', { name: one.name, size: f.bytes(one.length) })}
        </Note>
      )}
    </>
  );
}

function Sending({ one }: { one: Transfer }) {
  return (
    <div class={css.item} data-transfer={one.state}>
      <div class={css.itemHead}>
        <h3 translate={false}>{one.name}</h3>
        <Badge tone={transferTones[one.state]} text={t(`transfer.${one.state}`)} />
      </div>
      <Meter plain fraction={share(one.sent, one.length)} label={t('upload.progress', { name: one.name })} />
      <p class={css.sub}>{progressText(one)}</p>
      {one.error && <p class={css.sub}>{one.state === 'failed' ? one.error : t('upload.goes_on', { why: one.error })}</p>}
      {one.state === 'file' && <p class={css.sub}>{t('upload.file_text')}</p>}
      <Buttons one={one} />
    </div>
  );
}

function Arrived({ one, alone }: { one: Transfer; alone: boolean }) {
  const failed = operations.value.get(one.operation);
  const [open, setOpen] = useState(alone);
  const action = useAction(true);
  const accept = (): void =>
    void action.run(async () => {
      const made = await createDataset({ upload_id: one.id, name: nameFromFile(one.name) });
      usedBy(one.key, made.id);
    });
  return (
    <div class={css.item} data-transfer="sent">
      <div class={css.itemHead}>
        <h3 translate={false}>{one.name}</h3>
        <Badge tone="ok" text={t('transfer.sent')} />
      </div>
      <p class={css.sub}>{f.bytes(one.length)}</p>
      {one.sha256 && (
        <details class={css.hash}>
          <summary>{t('upload.sha256')}</summary>
          <Copy value={one.sha256} label={t('upload.sha256')} />
        </details>
      )}
      {failed?.error && (
        <Note tone="critical" live>
          {failed.error}
        </Note>
      )}
      {open ? (
        <Review one={one} />
      ) : (
        <div class={css.row}>
          <Button small variant="primary" busy={action.busy} aria-label={t('review.accept_what', { name: one.name })} onClick={accept}>
            {t('review.accept')}
          </Button>
          <Button small aria-expanded={false} aria-label={t('review.open_what', { name: one.name })} onClick={() => setOpen(true)}>
            {t('review.open')}
          </Button>
          <Button small variant="quiet" aria-label={t('upload.discard_what', { name: one.name })} onClick={() => void action.run(() => cancel(one.key))}>
            {t('upload.discard')}
          </Button>
        </div>
      )}
    </div>
  );
}

// One press for a whole drop of files; each that does not work out keeps its card.
function AcceptAll({ list }: { list: readonly Transfer[] }) {
  const action = useAction(true);
  const accept = (): void =>
    void action.run(async () => {
      const results = await Promise.allSettled(
        list.map(async (one) => usedBy(one.key, (await createDataset({ upload_id: one.id, name: nameFromFile(one.name) })).id)),
      );
      const bad = results.filter((result) => result.status === 'rejected');
      if (bad.length > 0) toast(t('review.some_failed', { count: bad.length }), { tone: 'error' });
    });
  return (
    <Button small variant="primary" busy={action.busy} onClick={accept}>
      {t('review.accept_all', { count: list.length })}
    </Button>
  );
}

export function Queue() {
  const files = transfers.value.filter(waitsForLook);
  const sending = files.filter((one) => one.state !== 'sent');
  const arrived = files.filter((one) => one.state === 'sent');
  const work = shownOperations.value.filter((one) => one.kind === 'ingest' && !files.some((file) => file.operation === one.id));
  if (files.length + work.length === 0) return null;
  return (
    <Card title={t('upload.queue')} actions={arrived.length > 1 && <AcceptAll list={arrived} />}>
      <div class={css.queue}>
        {work.map((one) => (
          <OperationCard key={one.id} one={one} />
        ))}
        {sending.map((one) => (
          <Sending key={one.key} one={one} />
        ))}
        {arrived.map((one) => (
          <Arrived key={one.key} one={one} alone={files.length === 1} />
        ))}
      </div>
    </Card>
  );
}
