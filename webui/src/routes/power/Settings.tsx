// What an administrator decides about power. An auditor reads it.
import { useState } from 'preact/hooks';
import * as api from '../../lib/api-power';
import { t } from '../../lib/messages';
import { cluster, isAdmin, toast } from '../../lib/stores';
import type { PowerSettings } from '../../lib/types-cluster';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Select, TextField } from '../../ui/Field';
import { fieldError, Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useFilled } from '../../ui/useFilled';
import { useLoad } from '../../ui/useLoad';
import { toDraft, toSettings, type PeriodDraft, type PowerDraft } from './draft';
import css from './power.module.css';

const empty: PowerDraft = { budget: '', limit: '', ups: 'auto', upsWatts: '', schedule: [] };
const usual = ['all', 'work', 'weekend'] as const;

interface PeriodProps {
  number: number;
  period: PeriodDraft;
  error: unknown;
  onChange: (change: Partial<PeriodDraft>) => void;
  onDrop: () => void;
}

function Period({ number, period, error, onChange, onDrop }: PeriodProps) {
  const fault = (name: string): string | undefined => fieldError(error, `/schedule/${number - 1}/${name}`);
  const days = usual.map((value) => ({ value: value as string, label: t(`power.days.${value}`) }));
  if (!days.some((one) => one.value === period.days)) days.push({ value: period.days, label: t('power.days.some', { days: period.days }) });
  return (
    <fieldset class={css.period}>
      <legend>{t('power.time', { number })}</legend>
      <Select label={t('power.days')} value={period.days} onChange={(value) => onChange({ days: value })} options={days} error={fault('days')} />
      <TextField label={t('power.from')} placeholder="22:00" maxLength={5} value={period.from} onInput={(from) => onChange({ from })} error={fault('from')} />
      <TextField label={t('power.to')} placeholder="06:00" maxLength={5} value={period.to} onInput={(to) => onChange({ to })} error={fault('to')} />
      <TextField type="number" min={1} label={t('power.watts')} hint={t('power.watts_hint')} value={period.watts} onInput={(watts) => onChange({ watts })} error={fault('watts')} />
      <Button small onClick={onDrop}>
        {t('power.drop', { number })}
      </Button>
    </fieldset>
  );
}

export function Settings({ onSaved }: { onSaved: () => void }) {
  const loaded = useLoad(() => api.getPowerSettings());
  const [draft, setDraft] = useState(empty);
  const action = useAction();
  const now = loaded.value?.value;
  const filled = useFilled(now, (settings) => setDraft(toDraft(settings)));
  const change = (more: Partial<PowerDraft>): void => setDraft((old) => ({ ...old, ...more }));
  const put = async (settings: PowerSettings, etag: string): Promise<string> => {
    const saved = await api.putPowerSettings(settings, etag);
    loaded.set(saved);
    onSaved();
    return saved.etag;
  };
  const save = (event: Event): void => {
    event.preventDefault();
    const before = now;
    void action.run(async () => {
      const etag = await put(toSettings(draft), loaded.value?.etag ?? '');
      toast(t('power.saved'), {
        tone: 'ok',
        undo: before && (() => void action.run(async () => void (await put(before, etag)))),
      });
    });
  };
  const changed = !!now && JSON.stringify(toSettings(draft)) !== JSON.stringify(toSettings(toDraft(now)));
  const fault = (pointer: string): string | undefined => fieldError(action.error, pointer);
  const period = (at: number, more: Partial<PeriodDraft>): void => change({ schedule: draft.schedule.map((one, i) => (i === at ? { ...one, ...more } : one)) });
  return (
    <Card title={t('power.settings')}>
      {loaded.error && <Note tone="critical">{loaded.error}</Note>}
      <form class={css.form} novalidate onSubmit={save}>
        <Problem error={action.error} />
        <fieldset disabled={!isAdmin.value || !filled} class={css.form}>
          <div class={css.fields}>
            <TextField type="number" min={1} label={t('power.budget')} hint={t('power.budget_hint')} value={draft.budget} onInput={(budget) => change({ budget })} error={fault('/budget_watts')} />
            <TextField type="number" min={40} max={105} label={t('power.limit')} hint={t('power.limit_hint')} value={draft.limit} onInput={(limit) => change({ limit })} error={fault('/limit_celsius')} />
            <Select label={t('power.ups')} value={draft.ups} onChange={(ups) => change({ ups: ups as PowerSettings['ups'] })} options={(['auto', 'on', 'off'] as const).map((value) => ({ value, label: t(`power.ups.${value}`) }))} error={fault('/ups')} />
            <TextField type="number" min={1} label={t('power.ups_watts')} hint={t('power.ups_watts_hint')} value={draft.upsWatts} onInput={(upsWatts) => change({ upsWatts })} error={fault('/ups_watts')} />
          </div>
          <h3 class={css.head}>{t('power.schedule')}</h3>
          <p class={css.text}>{t('power.schedule_text', { zone: cluster.value?.time_zone ?? 'UTC' })}</p>
          {draft.schedule.map((one, i) => (
            <Period key={i} number={i + 1} period={one} error={action.error} onChange={(more) => period(i, more)} onDrop={() => change({ schedule: draft.schedule.filter((_, at) => at !== i) })} />
          ))}
          {isAdmin.value && (
            <div class={css.row}>
              <Button small icon="plus" onClick={() => change({ schedule: [...draft.schedule, { days: 'all', from: '22:00', to: '06:00', watts: '' }] })}>
                {t('power.add')}
              </Button>
              <Button type="submit" variant="primary" busy={action.busy} disabled={!changed}>
                {t('action.save')}
              </Button>
            </div>
          )}
        </fieldset>
      </form>
    </Card>
  );
}
