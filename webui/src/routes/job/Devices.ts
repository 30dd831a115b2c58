// What a job computes on, by node where there are several, and why not on a GPU where one was to be had.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { Job, JobDevice } from '../../lib/types-models';

function text(one: JobDevice): string {
  const device = one.device ?? t('job.device_unknown');
  return one.note === null ? device : t('job.device_note', { device, note: one.note });
}

export function deviceRows(job: Job): [string, string][] {
  const devices = job.devices ?? [];
  if (devices.length === 0) return [];
  const of = (one: JobDevice): string => t('job.device_of', { node: one.node ?? one.node_id.slice(0, 4).toUpperCase(), device: text(one) });
  return [[t('job.device'), f.join(devices.map(devices.length > 1 ? of : text))]];
}
