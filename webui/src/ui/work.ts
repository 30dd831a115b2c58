// Uploads and operations in words and colours, the same in the tray and on their pages.
import '../messages/en-work';
import { t, tMaybe } from '../lib/messages';
import type { TransferState } from '../lib/stores';
import type { Operation } from '../lib/types-data';
import type { Job, JobState, Scoring } from '../lib/types-models';
import type { Tone } from './Badge';

export const transferTones: Record<TransferState, Tone> = {
  queued: 'neutral',
  sending: 'info',
  paused: 'neutral',
  waiting: 'warning',
  file: 'warning',
  elsewhere: 'info',
  failed: 'critical',
  sent: 'ok',
};
export const operationTones: Record<Operation['state'], Tone> = { queued: 'neutral', running: 'info', done: 'ok', failed: 'critical', cancelled: 'neutral' };

export const operationTitle = (one: Operation): string => (one.kind === 'scrub' ? t('operation.scrub') : one.title);
export function operationText(one: Operation): string {
  const step = one.state === 'running' && (one.step === 'checking' || one.step === 'reading' || one.step === 'placing');
  return t(step ? `operation.${one.step as 'checking'}` : `operation.${one.state}`);
}
export const jobTones: Record<JobState, Tone> = { ...operationTones, paused: 'warning' };
export const jobText = (one: Pick<Job, 'state' | 'step'>): string => {
  const state = t(`job.state.${one.state}`);
  return one.state === 'running' ? tMaybe(`job.step.${one.step}`, state) : state;
};
export const scoringText = (one: Scoring): string => t(one.state === 'running' ? 'scoring.running' : `job.state.${one.state}`);
export const share = (done: number, total: number): number => (total > 0 ? Math.min(1, done / total) : 0);
