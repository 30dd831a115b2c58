// Metrics, kinds and versions as a person reads them, the same on every page about jobs and models.
import '../../messages/en-models';
import * as f from '../../lib/format';
import { t, tMaybe } from '../../lib/messages';
import { isAdmin, mayUpload, session } from '../../lib/stores';
import type { Headline, JobState, Measured, Metrics, ModelVersion, Stage } from '../../lib/types-models';
import type { Tone } from '../../ui/Badge';

// The most telling ones first; lists show the first that is there.
const order = ['auc', 'accuracy', 'r2', 'pr_auc', 'f1', 'log_loss', 'rmse', 'mae', 'deviance', 'brier', 'ks', 'lift10'];
const shares = new Set(['accuracy']);

// "valid_loss" is the loss on the rows kept for validation.
export function metricName(name: string): string {
  const [, part, rest] = /^(train|valid|test)_(.+)$/.exec(name) ?? [];
  if (part && rest) return t(`metric.on_${part as 'train'}`, { metric: metricName(rest) });
  return tMaybe(`metric.name.${name}`, name);
}
export const metricValue = (name: string, value: number | null | undefined): string => (shares.has(name) ? f.percent(value, 1) : Math.abs(value ?? 0) < 10 ? f.number(value, 3) : f.figure(value));
const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);

export const measured = (value: unknown): Measured | null => {
  if (typeof value === 'number') return { value };
  const told = value as Measured | null | undefined;
  return typeof told?.value === 'number' ? told : null;
};
export function metricRows(metrics: Metrics | undefined): { name: string; told: Measured }[] {
  return Object.entries(metrics ?? {})
    .map(([name, value]) => ({ name, told: measured(value)! }))
    .filter((row) => row.told)
    .sort((a, b) => rank(a.name) - rank(b.name));
}
export function interval(name: string, { low, high }: Measured): string {
  return typeof low === 'number' && typeof high === 'number' ? t('metric.interval', { low: metricValue(name, low), high: metricValue(name, high) }) : '–';
}
export function headline(told: Headline | null | undefined, count = 1): string {
  const rows = metricRows(told as Metrics).filter((row) => order.includes(row.name));
  return f.join(rows.slice(0, count).map((row) => `${metricName(row.name)} ${metricValue(row.name, row.told.value)}`)) || '–';
}

// A yes-or-no target has the classes false and true.
export const className = (name: string, classes: readonly string[]): string => (classes.length === 2 && classes.includes('true') && classes.includes('false') ? t(name === 'true' ? 'type.yes' : 'type.no') : name);
// Small jobs cost next to nothing, which is not nothing.
export const wattHours = (value: number): string => (value > 0 && value < 0.01 ? t('job.energy_small') : f.energy(value));

export const kindName = (kind: string): string => tMaybe(`kind.${kind}`, kind);
export const stageTones: Record<Stage, Tone> = { production: 'ok', candidate: 'info', archived: 'neutral' };
export const stageText = (version: Pick<ModelVersion, 'stage'>): string => t(`stage.${version.stage}`);

// Letters, digits, dot, hyphen, underscore: a name becomes part of addresses.
export const modelName = (text: string): string => text.normalize('NFKD').replace(/[^\w.-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '').slice(0, 64).toLowerCase();

// Numbers between the three words are kept as they are.
const priorityNames: Readonly<Record<number, string>> = { '-10': 'priority.low', '0': 'priority.normal', '10': 'priority.high' };
export const priorityName = (priority: number): string => tMaybe(priorityNames[priority] ?? '', f.number(priority));

export const jobAddress = (job: string): string => `/jobs/${encodeURIComponent(job)}`;
export const modelAddress = (model: string, query = ''): string => `/models/${encodeURIComponent(model)}${query}`;
export const datasetAddress = (dataset: string): string => `/datasets/${encodeURIComponent(dataset)}`;

export const mayTrain = mayUpload;
// One's own; an administrator may stop what others began.
export const ownsIt = (owner: string): boolean => session.value?.user.id === owner;
export const mayStop = (owner: string): boolean => isAdmin.value || ownsIt(owner);
export const ended = (state: JobState): boolean => state === 'done' || state === 'failed' || state === 'cancelled';
