// Filters of the audit log. They live in the address, so that a finding can be sent to a colleague.
import { useState } from 'preact/hooks';
import type { AuditFilter } from '../../lib/api-access';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { Button } from '../../ui/Button';
import { TextField } from '../../ui/Field';
import css from './audit.module.css';

const toLocal = (iso: string | undefined): string => {
  if (!iso) return '';
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};
const toIso = (local: string): string | undefined => (local ? new Date(local).toISOString() : undefined);

export function Filters({ filter }: { filter: AuditFilter }) {
  const [q, setQ] = useState(filter.q ?? '');
  const [actor, setActor] = useState(filter.actor ?? '');
  const [action, setAction] = useState(filter.action ?? '');
  const [from, setFrom] = useState(toLocal(filter.from));
  const [to, setTo] = useState(toLocal(filter.to));
  const active = Object.values(filter).some(Boolean);
  const apply = (event: Event): void => {
    event.preventDefault();
    setQuery({ q: q.trim(), actor: actor.trim(), action: action.trim(), from: toIso(from), to: toIso(to) });
  };
  const clear = (): void => {
    for (const set of [setQ, setActor, setAction, setFrom, setTo]) set('');
    setQuery({ q: undefined, actor: undefined, action: undefined, from: undefined, to: undefined });
  };
  return (
    <form class={css.filters} role="search" aria-label={t('audit.filters')} novalidate onSubmit={apply}>
      <TextField type="search" label={t('audit.q')} value={q} onInput={setQ} search />
      <TextField label={t('audit.actor')} value={actor} onInput={setActor} />
      <TextField label={t('audit.action')} value={action} onInput={setAction} placeholder="user.create" />
      <TextField type="datetime-local" label={t('range.from')} value={from} onInput={setFrom} />
      <TextField type="datetime-local" label={t('range.to')} value={to} onInput={setTo} />
      <div class={css.buttons}>
        <Button type="submit">{t('audit.apply')}</Button>
        {active && (
          <Button variant="quiet" onClick={clear}>
            {t('action.clear_filter')}
          </Button>
        )}
      </div>
    </form>
  );
}
