// The box at work on a file: which step, how far, how it ended.
import { cancelOperation } from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { dismissedOperations, isWorking } from '../../lib/stores';
import { operationSteps, type Operation } from '../../lib/types-data';
import { Badge } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Icon } from '../../ui/Icon';
import { Meter } from '../../ui/Meter';
import { operationText, operationTitle, operationTones, share } from '../../ui/work';
import { useAction } from '../../ui/useAction';
import css from './datasets.module.css';

function Steps({ one }: { one: Operation }) {
  const at = operationSteps.findIndex((step) => step === one.step);
  return (
    <ol class={css.steps} aria-label={t('operation.steps')}>
      {operationSteps.map((step, index) => (
        <li key={step} aria-current={index === at ? 'step' : undefined} data-done={index < at}>
          <span class={css.tick}>{index < at ? <Icon name="check" size={12} /> : f.number(index + 1)}</span>
          {t(`operation.${step}`)}
          {index < at && <span class="visually-hidden">{t('operation.step_done')}</span>}
        </li>
      ))}
    </ol>
  );
}

export function OperationCard({ one, plain }: { one: Operation; plain?: boolean }) {
  const action = useAction(true);
  const working = isWorking(one);
  const dismiss = (): void => {
    dismissedOperations.value = new Set([...dismissedOperations.value, one.id]);
  };
  const rows = [
    one.rows > 0 && t('operation.rows', { count: one.rows, rows: f.number(one.rows) }),
    one.bad_rows > 0 && t('operation.bad_rows', { count: one.bad_rows, rows: f.number(one.bad_rows) }),
  ].filter(Boolean);
  return (
    <div class={css.item} data-operation={one.state}>
      <div class={css.itemHead}>
        <h3 translate={false}>{operationTitle(one)}</h3>
        <Badge tone={operationTones[one.state]} text={operationText(one)} />
      </div>
      {one.state === 'queued' && one.queue_position > 0 && <p class={css.sub}>{t('operation.ahead', { count: one.queue_position })}</p>}
      {working && <Steps one={one} />}
      {one.state === 'running' && <Meter plain fraction={share(one.done_bytes, one.total_bytes)} label={operationTitle(one)} />}
      {rows.length > 0 && <p class={css.sub}>{rows.join(' · ')}</p>}
      {one.error && (
        <Note tone="critical" live>
          {one.error}
        </Note>
      )}
      <div class={css.row}>
        {!plain && one.state === 'done' && one.dataset_id && (
          <LinkButton small variant="primary" href={`/datasets/${encodeURIComponent(one.dataset_id)}`} label={t('operation.open_what', { name: one.title })}>
            {t('operation.open')}
          </LinkButton>
        )}
        {working ? (
          <Button small variant="quiet" busy={action.busy} aria-label={t('upload.cancel_what', { name: operationTitle(one) })} onClick={() => void action.run(() => cancelOperation(one.id))}>
            {t('action.cancel')}
          </Button>
        ) : (
          <Button small variant="quiet" aria-label={t('operation.dismiss_what', { name: operationTitle(one) })} onClick={dismiss}>
            {t('operation.dismiss')}
          </Button>
        )}
      </div>
    </div>
  );
}
