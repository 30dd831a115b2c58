// A value to be taken elsewhere: shown whole, copied with one press.
import { useState } from 'preact/hooks';
import { t } from '../lib/messages';
import { Button } from './Button';
import css from './Copy.module.css';

export function Copy({ value, label }: { value: string; label: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(value);
      setDone(true);
    } catch {
      // No permission: the text is selectable.
    }
  };
  return (
    <div class={css.copy}>
      <code>{value}</code>
      <Button small icon={done ? 'check' : 'copy'} aria-label={t('action.copy_what', { what: label })} onClick={() => void copy()}>
        {done ? t('action.copied') : t('action.copy')}
      </Button>
      <span role="status" class="visually-hidden">
        {done ? t('action.copied') : ''}
      </span>
    </div>
  );
}
