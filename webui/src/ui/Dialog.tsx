// A modal on the native <dialog>: the browser traps the focus, closes on Escape and gives the focus back.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../lib/messages';
import { Button } from './Button';
import css from './Dialog.module.css';

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  footer?: ComponentChildren;
  wide?: boolean;
  onSubmit?: () => void;
  closable?: boolean;
}

export function Dialog({ title, onClose, children, footer, wide, onSubmit, closable = true }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (!dialog) return;
    const before = document.activeElement as HTMLElement | null;
    if (!dialog.open) dialog.showModal();
    dialog.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      if (dialog.open) dialog.close();
      // Removing an open dialog from the page would leave the focus nowhere.
      if (before?.isConnected) before.focus();
    };
  }, []);
  const body = (
    <>
      <div class={css.body}>{children}</div>
      {footer && <div class={css.footer}>{footer}</div>}
    </>
  );
  return (
    <dialog
      ref={ref}
      class={`${css.dialog} ${wide ? css.wide : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (closable) onClose();
      }}
    >
      <div class={css.head}>
        <h2 id={id}>{title}</h2>
        {closable && <Button variant="quiet" small icon="close" aria-label={t('action.close')} onClick={onClose} />}
      </div>
      {onSubmit ? (
        <form
          novalidate
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {body}
        </form>
      ) : (
        body
      )}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  action: string;
  busy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

// For what cannot be undone. The safe button has the focus.
export function Confirm({ title, action, busy, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button data-autofocus="" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button variant="danger" busy={busy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
