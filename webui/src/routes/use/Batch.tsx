// Many cases at once: a data set or a file, with progress, and a file to take away.
import { useEffect, useRef, useState } from 'preact/hooks';
import * as data from '../../lib/api-data';
import * as models from '../../lib/api-models';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { isWorking, scorings, serverNow, session } from '../../lib/stores';
import type { Dataset } from '../../lib/types-data';
import type { Scoring } from '../../lib/types-models';
import { Badge } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Select } from '../../ui/Field';
import { Meter } from '../../ui/Meter';
import { Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { jobTones, scoringText, share } from '../../ui/work';
import css from '../models/models.module.css';

const warningsMax = 3;

// An event may have been faster than the answer, and is newer then.
function put(one: Scoring): void {
  if (!scorings.value.has(one.id)) scorings.value = new Map(scorings.value).set(one.id, one);
}

// Sends the file whole; what has arrived stays at the box, so a second try goes on from there.
async function send(file: File, onProgress: (fraction: number) => void): Promise<string> {
  const id = await data.createUpload(file.name, file.size);
  await new Promise<void>((resolve, reject) => {
    const sending = { onProgress: (sent: number) => onProgress(share(sent, file.size)), onDone: () => resolve(), onError: reject };
    data.sendUpload(id, file, sending).catch(reject);
  });
  return id;
}

function One({ one, sets }: { one: Scoring; sets: readonly Dataset[] }) {
  const action = useAction(true);
  const began = useRef({ at: performance.now(), rows: one.rows });
  const [speed, setSpeed] = useState<number | null>(null);
  useEffect(() => {
    const seconds = (performance.now() - began.current.at) / 1000;
    if (one.state === 'running' && seconds > 1) setSpeed((one.rows - began.current.rows) / seconds);
  }, [one.rows]);
  // A file that was sent for this alone is no longer needed.
  const worked = useRef(isWorking(one));
  useEffect(() => {
    if (worked.current && !isWorking(one) && one.upload_id) data.deleteUpload(one.upload_id).catch(() => undefined);
    worked.current = isWorking(one);
  }, [one.state]);
  const remove = (): void =>
    void action.run(async () => {
      await models.deleteScoring(one.id);
      const rest = new Map(scorings.value);
      rest.delete(one.id);
      scorings.value = rest;
    });
  const name = sets.find((set) => set.id === one.dataset_id)?.name ?? t('batch.a_file');
  return (
    <li data-scoring={one.state}>
      <div class={css.itemHead}>
        <h3 translate={false}>{name}</h3>
        <Badge tone={jobTones[one.state]} text={scoringText(one)} />
      </div>
      <p class={css.sub}>
        {[t('batch.rows', { count: one.rows, rows: f.number(one.rows) }), one.state === 'running' && speed ? t('job.per_second', { rows: f.number(speed) }) : '', one.state === 'done' ? f.bytes(one.result_bytes) : '', f.ago(one.created_at, serverNow())]
          .filter(Boolean)
          .join(' · ')}
      </p>
      {one.state === 'running' && <Meter plain fraction={share(one.rows, one.rows_total)} label={name} />}
      {one.error && <Note tone="critical">{one.error}</Note>}
      {one.warnings.length > 0 && (
        <Note tone="warning">
          {one.warnings.slice(0, warningsMax).map((warning, index) => (
            <p key={index}>{warning.detail}</p>
          ))}
          {one.warnings.length > warningsMax && <p>{t('batch.more_warnings', { count: one.warnings.length - warningsMax })}</p>}
        </Note>
      )}
      <div class={css.row}>
        {one.state === 'done' && (
          <LinkButton small variant="primary" icon="download" href={models.resultAddress(one.id)} download={`${one.model}-predictions.csv`} label={t('batch.download_what', { name })}>
            {t('batch.download')}
          </LinkButton>
        )}
        <Button small variant="quiet" busy={action.busy} aria-label={t(isWorking(one) ? 'batch.cancel_what' : 'batch.delete_what', { name })} onClick={remove}>
          {t(isWorking(one) ? 'action.cancel' : 'job.delete')}
        </Button>
      </div>
    </li>
  );
}

export function Batch({ model, version }: { model: string; version: number }) {
  const sets = useLoad(() => data.getDatasets(false));
  const usable = sets.value?.items.filter((set) => set.may_read_rows && !set.damaged) ?? [];
  const [chosen, setChosen] = useState('');
  const [sent, setSent] = useState<number | null>(null);
  const input = useRef<HTMLInputElement>(null);
  const action = useAction();
  const dataset = chosen || usable[0]?.id || '';
  const begin = (what: () => Promise<Partial<models.NewScoring>>): void =>
    void action.run(async () => {
      try {
        put(await models.createScoring({ model, version, ...(await what()) }));
      } finally {
        setSent(null);
      }
    });
  const file = (chosenFile: File | undefined): void => {
    if (!chosenFile) return;
    setSent(0);
    begin(async () => ({ upload_id: await send(chosenFile, setSent) }));
  };
  const list = [...scorings.value.values()].filter((one) => one.model === model && one.owner_id === session.value?.user.id).sort((a, b) => b.created_at.localeCompare(a.created_at));
  return (
    <Card title={t('batch.title')}>
      <div class={css.form}>
        <p class={css.sub}>{t('batch.text')}</p>
        <Problem error={action.error} />
        <div class={css.line}>
          {usable.length > 0 && (
            <>
              <Select label={t('newjob.dataset')} value={dataset} onChange={setChosen} options={usable.map((set) => ({ value: set.id, label: set.name }))} />
              <Button variant="primary" busy={action.busy} onClick={() => begin(() => Promise.resolve({ dataset_id: dataset }))}>
                {t('batch.start')}
              </Button>
            </>
          )}
          <Button icon="upload" onClick={() => input.current?.click()}>
            {t('batch.file')}
          </Button>
          <input
            ref={input}
            hidden
            type="file"
            aria-label={t('batch.file')}
            onChange={(event) => {
              file(event.currentTarget.files?.[0]);
              event.currentTarget.value = '';
            }}
          />
        </div>
        {sent !== null && (
          <div class={css.progress}>
            <Meter plain fraction={sent} label={t('batch.sending')} />
            <span>{t('batch.sending')}</span>
          </div>
        )}
        {list.length > 0 && (
          <ul class={css.items}>
            {list.map((one) => (
              <One key={one.id} one={one} sets={sets.value?.items ?? []} />
            ))}
          </ul>
        )}
      </div>
    </Card>
  );
}
