// A button that opens a small panel under it: the task tray, the menu of the person.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './Icon';
import css from './Disclosure.module.css';

interface DisclosureProps {
  label: string;
  icon: IconName;
  text?: string; // a name: never translated
  count?: number;
  children: (close: () => void) => ComponentChildren;
}

export function Disclosure({ label, icon, text, count, children }: DisclosureProps) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const away = (event: Event): void => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    const key = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') close();
    };
    document.addEventListener('pointerdown', away);
    document.addEventListener('focusin', away);
    document.addEventListener('keydown', key);
    return () => {
      document.removeEventListener('pointerdown', away);
      document.removeEventListener('focusin', away);
      document.removeEventListener('keydown', key);
    };
  }, [open]);
  return (
    <div class={css.root} ref={root}>
      <button ref={button} type="button" class={css.button} aria-expanded={open} aria-controls={open ? id : undefined} aria-label={label} title={label} onClick={() => setOpen(!open)}>
        <Icon name={icon} />
        {text && <span class={css.text} translate={false}>{text}</span>}
        {!!count && <span class={css.count}>{count}</span>}
      </button>
      {open && (
        <div id={id} class={css.panel}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
