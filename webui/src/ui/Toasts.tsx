// Short messages at the foot of the page. One with Undo stays ten seconds, and waits while it is pointed at.
import { useEffect, useState } from 'preact/hooks';
import { t } from '../lib/messages';
import { dropToast, toasts, type Toast } from '../lib/stores';
import { Button } from './Button';
import { Icon } from './Icon';
import css from './Toasts.module.css';

const stayMs = 10_000;
const icons = { info: 'info', ok: 'ok', error: 'critical' } as const;

function Item({ item }: { item: Toast }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    // Errors stay until they are read and closed.
    if (held || item.tone === 'error') return;
    const timer = setTimeout(() => dropToast(item.id), stayMs);
    return () => clearTimeout(timer);
  }, [held]);
  return (
    <div
      class={`${css.toast} ${css[item.tone]}`}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      <Icon name={icons[item.tone]} />
      <span class={css.text}>{item.text}</span>
      {item.undo && (
        <Button
          small
          onClick={() => {
            item.undo?.();
            dropToast(item.id);
          }}
        >
          {t('action.undo')}
        </Button>
      )}
      <Button variant="quiet" small icon="close" aria-label={t('action.close')} onClick={() => dropToast(item.id)} />
    </div>
  );
}

export function Toasts() {
  return (
    <div class={css.list} role="log" aria-live="polite" aria-label={t('frame.messages')}>
      {toasts.value.map((item) => (
        <Item key={item.id} item={item} />
      ))}
    </div>
  );
}
