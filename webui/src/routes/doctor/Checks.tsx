// What the doctor found, worst first, each with its remedy. What is fine is folded away.
import '../../messages/en-doctor';
import { t } from '../../lib/messages';
import type { Check } from '../../lib/types-cluster';
import { Badge, type Tone } from '../../ui/Badge';
import { Note } from '../../ui/Card';
import { sorted } from './sorted';
import css from './doctor.module.css';

const tones: Record<Check['state'], Tone> = { ok: 'ok', info: 'info', warn: 'warning', fail: 'critical' };

function List({ checks }: { checks: readonly Check[] }) {
  return (
    <ul class={css.checks}>
      {checks.map((check, n) => (
        <li key={`${check.id} ${n}`} data-check={check.id}>
          <Badge tone={tones[check.state] ?? 'neutral'} text={t(`doctor.state.${check.state}`)} />
          <div>
            <p class={css.title}>{check.title}</p>
            {check.detail && <p>{check.detail}</p>}
            {check.remedy && (
              <p class={css.remedy}>
                {t('doctor.remedy')} <strong>{check.remedy}</strong>
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

export function Checks({ checks }: { checks: readonly Check[] }) {
  const { open, fine, troubles } = sorted(checks);
  return (
    <div class={css.found}>
      <Note tone={troubles === 0 ? 'ok' : open.some((check) => check.state === 'fail') ? 'critical' : 'warning'} live>
        {troubles === 0 ? t('doctor.ok') : t('doctor.found', { count: troubles })}
      </Note>
      {open.length > 0 && <List checks={open} />}
      {fine.length > 0 && (
        <details class={css.fine} open={open.length === 0}>
          <summary>{t('doctor.show_ok', { count: fine.length })}</summary>
          <List checks={fine} />
        </details>
      )}
    </div>
  );
}
