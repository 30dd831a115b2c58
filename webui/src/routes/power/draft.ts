// What the form of the power settings holds: texts as typed, and the document the box is sent.
import type { PowerPeriod, PowerSettings } from '../../lib/types-cluster';

export interface PeriodDraft {
  days: string; // "all", "work", "weekend", or the names with commas
  from: string;
  to: string;
  watts: string;
}
export interface PowerDraft {
  budget: string;
  limit: string;
  ups: PowerSettings['ups'];
  upsWatts: string;
  schedule: readonly PeriodDraft[];
}

export const weekDays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const groups: Record<string, readonly string[]> = { all: weekDays, work: weekDays.slice(0, 5), weekend: weekDays.slice(5) };

const text = (value: number | null | undefined): string => (value === null || value === undefined ? '' : String(value));
// What is no number goes as it is: the box says what is wrong with it.
const number = (typed: string): number | null => (typed.trim() === '' ? null : Number.isFinite(Number(typed)) ? Number(typed) : (typed as unknown as number));

function groupOf(days: readonly string[] | undefined): string {
  if (!days) return 'all';
  const same = Object.entries(groups).find(([, names]) => names.length === days.length && names.every((name) => days.includes(name)));
  return same ? same[0] : days.join(',');
}

export const toDraft = (settings: PowerSettings): PowerDraft => ({
  budget: text(settings.budget_watts),
  limit: text(settings.limit_celsius),
  ups: settings.ups,
  upsWatts: text(settings.ups_watts),
  schedule: settings.schedule.map((period) => ({ days: groupOf(period.days), from: period.from, to: period.to, watts: text(period.watts) })),
});

export const toSettings = (draft: PowerDraft): PowerSettings => ({
  budget_watts: number(draft.budget),
  schedule: draft.schedule.map(
    (period): PowerPeriod => ({ days: [...(groups[period.days] ?? period.days.split(','))], from: period.from, to: period.to, watts: number(period.watts) }),
  ),
  limit_celsius: number(draft.limit),
  ups: draft.ups,
  ups_watts: number(draft.upsWatts),
});
