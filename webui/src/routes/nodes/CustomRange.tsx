// A range between two moments, for those who do not drag over the charts.
import { useState } from 'preact/hooks';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { serverNow } from '../../lib/stores';
import { Button } from '../../ui/Button';
import { TextField } from '../../ui/Field';
import css from './nodes.module.css';

// The input wants local time without a zone.
function toLocal(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export default function CustomRange({ from, to, span }: { from: string; to: string; span: number }) {
  const [start, setStart] = useState(toLocal(from ? new Date(from) : new Date(serverNow() - span * 1000)));
  const [end, setEnd] = useState(toLocal(to ? new Date(to) : new Date(serverNow())));
  const [error, setError] = useState('');
  const apply = (event: Event): void => {
    event.preventDefault();
    const a = new Date(start);
    const b = new Date(end);
    if (!(a.getTime() < b.getTime())) return setError(t('range.error'));
    setQuery({ from: a.toISOString(), to: b.toISOString(), range: undefined }, { replace: false });
  };
  return (
    <form class={css.custom} novalidate onSubmit={apply}>
      <TextField type="datetime-local" label={t('range.from')} value={start} onInput={setStart} error={error} />
      <TextField type="datetime-local" label={t('range.to')} value={end} onInput={setEnd} />
      <div>
        <Button type="submit">{t('range.show')}</Button>
      </div>
    </form>
  );
}
