// What a job took and was allowed: energy with its error, its limit in watts, its deadline.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { Job } from '../../lib/types-models';
import { Note } from '../../ui/Card';
import { ended, wattHours } from '../models/words';

// What is too small to tell has no error worth telling.
export function giveOrTake(value: number, error: number | undefined): string {
  if (!error || value < 0.01) return wattHours(value);
  return t('job.give_or_take', { value: f.energy(value), error: f.energy(error) });
}

function deadline(job: Job, by: string): string {
  const kept = job.summary?.in_time;
  return kept === undefined ? f.dateTime(by) : t(kept ? 'job.deadline_kept' : 'job.deadline_missed', { by: f.dateTime(by) });
}

export function powerRows(job: Job): [string, string][] {
  const power = job.power;
  const rows: [string, string][] = [];
  if (typeof job.box_watts === 'number') rows.push([t('job.box_watts'), f.watts(job.box_watts)]);
  if (!power) return rows;
  const asked = [power.mode === 'gentle' && !power.deadline ? t('job.power_gentle') : '', power.watts === null ? '' : t('job.power_watts', { watts: f.watts(power.watts) })].filter(Boolean);
  if (asked.length > 0) rows.push([t('job.power_asked'), f.join(asked)]);
  if (power.deadline) rows.push([t('job.deadline'), deadline(job, power.deadline)]);
  if (job.state === 'running' && power.granted_watts !== null) rows.push([t('job.power_now'), f.watts(power.granted_watts)]);
  return rows;
}

// The limit wins, and that is said.
export function Late({ job }: { job: Job }) {
  const power = job.power;
  if (!power?.late || !power.deadline || ended(job.state)) return null;
  const by = f.dateTime(power.deadline);
  const limit = power.watts ?? power.granted_watts;
  const text = limit === null ? t('job.late_full', { by }) : power.needed_watts === null ? t('job.late_limit', { by, watts: f.watts(limit) }) : t('job.late', { by, watts: f.watts(limit), needed: f.watts(power.needed_watts) });
  return (
    <Note tone="warning" live>
      {text}
    </Note>
  );
}
