// The first page: is it well, what does it draw, is there room, does anything need a person.
import '../../messages/en-overview';
import type { ComponentChildren } from 'preact';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { cluster, dismissedAlerts, energySince, isAdmin, mayUpload, members, nodes, recent, recentMax, serverNow, shownAlerts, stale, toast } from '../../lib/stores';
import type { Alert } from '../../lib/types';
import { Badge } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Icon, type IconName } from '../../ui/Icon';
import { Meter } from '../../ui/Meter';
import { Page } from '../../ui/Page';
import { useBackfill } from '../../ui/useBackfill';
import { Sparkline } from '../../ui/Sparkline';
import { Checklist } from './Checklist';
import { FirstSteps } from './FirstSteps';
import { Running } from './Running';
import { NodesCard, strengthText } from './Nodes';
import { latest, totals } from './totals';
import css from './OverviewPage.module.css';

function Health() {
  const box = cluster.value;
  const health = box?.health;
  const { up, total, minority } = members.value;
  // A node that went a moment ago shows here before the box has an alert for it.
  const early = health?.state === 'ok' && up < total;
  const state = minority ? 'critical' : early ? 'warning' : (health?.state ?? 'ok');
  return (
    <div class={`${css.health} ${css[state]}`} role="status">
      <Icon name={state} size={28} />
      <div>
        <p class={css.sentence}>{early ? t('overview.node_down', { count: total - up }) : (health?.summary ?? t('overview.reading'))}</p>
        {box && <p class={css.sub}>{strengthText(members.value)}</p>}
      </div>
    </div>
  );
}

function Figure({ label, value, note, icon, children }: { label: string; value: string; note?: ComponentChildren; icon: IconName; children?: ComponentChildren }) {
  return (
    <div class={css.figure}>
      <h2>
        <Icon name={icon} size={16} />
        {label}
      </h2>
      <p class={css.value}>{value}</p>
      <p class={css.note}>{note}</p>
      {children}
    </div>
  );
}

function Figures() {
  const box = cluster.value;
  const now = latest(nodes.value.values());
  const past = totals(recent.value);
  const slots = recentMax;
  const storage = box?.storage;
  const used = storage && storage.total_bytes > 0 ? 1 - storage.free_bytes / storage.total_bytes : null;
  const watts = now.watts ?? box?.power.watts ?? null;
  const estimated = now.watts === null ? box?.power.estimated : now.estimated;
  const told = box?.power.energy_today_wh;
  const energy = told === null || told === undefined ? null : told + energySince.value;
  return (
    <div class={css.figures} data-stale={stale.value || undefined}>
      <Figure label={t('metric.power')} icon="power" value={f.watts(watts)} note={watts === null ? t('metric.no_sensor') : t(estimated ? 'metric.estimated' : 'metric.measured')}>
        <Sparkline values={past.map((p) => p.watts)} slots={slots} tone={2} />
      </Figure>
      <Figure label={t('metric.cpu')} icon="bolt" value={f.percent(now.cpu)} note={t('metric.last_minutes')}>
        <Sparkline values={past.map((p) => p.cpu)} slots={slots} max={1} />
      </Figure>
      <Figure label={t('metric.memory')} icon="chip" value={f.bytes(now.memUsed)} note={t('metric.of', { total: f.bytes(now.memTotal) })}>
        <Sparkline values={past.map((p) => p.memUsed)} slots={slots} max={now.memTotal ?? undefined} tone={4} />
      </Figure>
      <Figure label={t('metric.temperature')} icon="thermometer" value={f.celsius(now.hottest)} note={now.hottest === null ? t('metric.no_sensor') : now.hottestName}>
        <Sparkline values={past.map((p) => p.hottest)} slots={slots} max={100} tone={2} />
      </Figure>
      <Figure label={t('metric.energy_today')} icon="gauge" value={f.energy(energy)} note={t(estimated ? 'metric.energy_estimated' : 'metric.energy_note')} />
      <Figure label={t('metric.storage_free')} icon="disk" value={f.bytes(storage?.free_bytes)} note={members.value.total > 1 ? t('overview.over_nodes', { count: members.value.total, total: f.bytes(storage?.total_bytes) }) : t('metric.of', { total: f.bytes(storage?.total_bytes) })}>
        <Meter fraction={used} label={t('metric.storage_used')} />
      </Figure>
      <Figure label={t('metric.received')} icon="download" value={f.bitsPerSecond(now.rx)} note={t('metric.last_minutes')}>
        <Sparkline values={past.map((p) => p.rx)} slots={slots} tone={3} />
      </Figure>
      <Figure label={t('metric.sent')} icon="upload" value={f.bitsPerSecond(now.tx)} note={t('metric.last_minutes')}>
        <Sparkline values={past.map((p) => p.tx)} slots={slots} tone={3} />
      </Figure>
    </div>
  );
}

function dismiss(alert: Alert): void {
  dismissedAlerts.value = new Set([...dismissedAlerts.value, alert.id]);
  toast(t('alerts.dismissed', { title: alert.title }), {
    undo: () => {
      const back = new Set(dismissedAlerts.value);
      back.delete(alert.id);
      dismissedAlerts.value = back;
    },
  });
}

function Alerts() {
  const list = shownAlerts.value;
  return (
    <Card
      title={t('alerts.title')}
      actions={
        isAdmin.value &&
        list.length > 0 && (
          <LinkButton small variant="quiet" href="/doctor">
            {t('alerts.doctor')}
          </LinkButton>
        )
      }
    >
      {list.length === 0 ? (
        <EmptyState icon="ok" title={t('alerts.none')}>
          {t('alerts.none_text')}
        </EmptyState>
      ) : (
        <ul class={css.alerts}>
          {list.map((alert) => (
            <li key={alert.id}>
              <div>
                <p class={css.alertTitle}>
                  <Badge tone={alert.severity} text={t(`severity.${alert.severity}`)} />
                  <strong>{alert.title}</strong>
                </p>
                <p>{alert.detail}</p>
                {alert.remedy && <p class={css.remedy}>{alert.remedy}</p>}
                <p class={css.note}>{t('alerts.since', { when: f.ago(alert.since, serverNow()) })}</p>
              </div>
              <Button small variant="quiet" onClick={() => dismiss(alert)} aria-label={t('alerts.dismiss_what', { title: alert.title })}>
                {t('alerts.dismiss')}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

export default function OverviewPage() {
  useBackfill();
  return (
    <Page title={t('nav.overview')}>
      <Health />
      <Figures />
      <div class={css.halves}>
        <div class={css.column}>
          <Alerts />
          <Running />
        </div>
        <div class={css.column}>
          <NodesCard />
          {isAdmin.value && <Checklist />}
        </div>
        {mayUpload.value && <FirstSteps />}
      </div>
    </Page>
  );
}
