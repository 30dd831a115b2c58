// How much power the job may take, until when it shall be done, and on what it computes.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { DeviceChoice, JobEstimate, PowerMode } from '../../lib/types-models';
import { Card, Note } from '../../ui/Card';
import { Select, TextField } from '../../ui/Field';
import type { Draft } from './draft';
import css from '../models/models.module.css';

interface PowerProps {
  draft: Draft;
  fault: (pointer: string) => string | undefined;
  onChange: (change: Partial<Draft>) => void;
}

export function PowerChoice({ draft, fault, onChange }: PowerProps) {
  return (
    <Card title={t('newjob.power')}>
      <div class={css.fields}>
        <Select
          label={t('newjob.power_mode')}
          hint={t(draft.finishBy ? 'newjob.power_frugal_hint' : `newjob.power_${draft.powerMode}_hint`)}
          value={draft.powerMode}
          error={fault('/power/mode') ?? fault('/power')}
          onChange={(mode) => onChange({ powerMode: mode as PowerMode })}
          options={(['full', 'gentle'] as const).map((value) => ({ value, label: t(`newjob.power_${value}`) }))}
        />
        <TextField type="number" min={1} label={t('newjob.watts')} hint={t('newjob.watts_hint')} value={draft.watts} error={fault('/power/watts')} onInput={(watts) => onChange({ watts })} />
        <TextField label={t('newjob.finish_by')} hint={t('newjob.finish_by_hint')} placeholder="06:00" maxLength={40} value={draft.finishBy} error={fault('/power/finish_by')} onInput={(finishBy) => onChange({ finishBy })} />
        <Select
          label={t('newjob.device')}
          hint={t(`newjob.device_${draft.device}_hint`)}
          value={draft.device}
          error={fault('/device')}
          onChange={(device) => onChange({ device: device as DeviceChoice })}
          options={(['auto', 'cpu', 'gpu'] as const).map((value) => ({ value, label: t(`newjob.device_${value}`) }))}
        />
      </div>
    </Card>
  );
}

// What the limits make of it; nothing without any.
export function estimateOfPower(estimate: JobEstimate) {
  const watts = estimate.watts ? f.watts(estimate.watts) : '';
  if (typeof estimate.in_time !== 'boolean' || !estimate.deadline) return watts ? <p class={css.sub}>{t('newjob.draws', { watts })}</p> : null;
  const by = f.dateTime(estimate.deadline);
  if (estimate.in_time) return <p class={css.sub}>{watts ? t('newjob.in_time_watts', { by, watts }) : t('newjob.in_time', { by })}</p>;
  const end = f.dateTime(estimate.ends_at ?? null);
  return <Note tone="warning">{estimate.needed_watts ? t('newjob.late_watts', { by, end, watts: f.watts(estimate.needed_watts) }) : t('newjob.late', { by, end })}</Note>;
}
