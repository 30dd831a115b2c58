// Work that is going on: uploads, what the box does with them, training, predictions, checks, exports. What the box
// works on comes from there, so it is here again after a reload. Finished ones stay a while so that their end is not missed.
import { t } from '../lib/messages';
import { shownJobs, shownOperations, shownScorings, tasks, transfers, waitsForLook, type Transfer } from '../lib/stores';
import type { Operation } from '../lib/types-data';
import type { Job, Scoring } from '../lib/types-models';
import { Badge } from './Badge';
import { Meter } from './Meter';
import { jobText, jobTones, operationText, operationTitle, operationTones, scoringText, share, transferTones } from './work';
import css from './TrayList.module.css';

const tones = { running: 'info', done: 'ok', failed: 'critical' } as const;
function Sent({ one }: { one: Transfer }) {
  const moving = one.state !== 'sent' && one.state !== 'failed';
  return (
    <li>
      <a href="/datasets" translate={false}>
        {one.name}
      </a>
      <Badge tone={transferTones[one.state]} text={t(one.state === 'sent' ? 'tray.review' : `transfer.${one.state}`)} />
      {moving && <Meter plain fraction={share(one.sent, one.length)} label={one.name} />}
    </li>
  );
}

function Done({ one }: { one: Operation }) {
  return (
    <li>
      <a href={one.state === 'done' && one.dataset_id ? `/datasets/${encodeURIComponent(one.dataset_id)}` : '/datasets'} translate={one.kind === 'scrub'}>
        {operationTitle(one)}
      </a>
      <Badge tone={operationTones[one.state]} text={operationText(one)} />
      {one.state === 'running' && <Meter plain fraction={share(one.done_bytes, one.total_bytes)} label={operationTitle(one)} />}
      {one.error && <small>{one.error}</small>}
    </li>
  );
}

function Trained({ one }: { one: Job }) {
  return (
    <li>
      <a href={`/jobs/${encodeURIComponent(one.id)}`} translate={false}>
        {one.name}
      </a>
      <Badge tone={jobTones[one.state]} text={jobText(one)} />
      {one.state === 'running' && <Meter plain fraction={one.share} label={one.name} />}
      {one.error && <small>{one.error}</small>}
    </li>
  );
}

function Scored({ one }: { one: Scoring }) {
  const title = t('scoring.title', { model: one.model });
  return (
    <li>
      <a href={`/models/${encodeURIComponent(one.model)}/use`}>{title}</a>
      <Badge tone={jobTones[one.state]} text={scoringText(one)} />
      {one.state === 'running' && <Meter plain fraction={share(one.rows, one.rows_total)} label={title} />}
      {one.error && <small>{one.error}</small>}
    </li>
  );
}

export default function TrayList() {
  const list = tasks.value;
  const files = transfers.value.filter(waitsForLook);
  const work = shownOperations.value;
  const trainings = shownJobs.value;
  const batches = shownScorings.value;
  return (
    <div class={css.tray}>
      <h2>{t('tray.title')}</h2>
      {list.length + files.length + work.length + trainings.length + batches.length === 0 && <p class={css.none}>{t('tray.empty')}</p>}
      <ul>
        {files.map((one) => (
          <Sent key={one.key} one={one} />
        ))}
        {work.map((one) => (
          <Done key={one.id} one={one} />
        ))}
        {trainings.map((one) => (
          <Trained key={one.id} one={one} />
        ))}
        {batches.map((one) => (
          <Scored key={one.id} one={one} />
        ))}
        {list.map((task) => (
          <li key={task.id}>
            <span>{task.title}</span>
            <Badge tone={tones[task.state]} text={t(`tray.${task.state}`)} />
            {task.detail && <small>{task.detail}</small>}
          </li>
        ))}
      </ul>
    </div>
  );
}
