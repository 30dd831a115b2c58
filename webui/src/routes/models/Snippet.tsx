// Lines to paste elsewhere, shown as they are.
import { useState } from 'preact/hooks';
import { t } from '../../lib/messages';
import { Button } from '../../ui/Button';
import css from './models.module.css';

// `named`: the title is a name, never translated.
export function Snippet({ title, text, named }: { title: string; text: string; named?: boolean }) {
  const [copied, setCopied] = useState('');
  const copy = (): void => void navigator.clipboard?.writeText(text).then(() => setCopied(text), () => undefined);
  const done = copied === text;
  return (
    <div class={css.snippet}>
      <div class={css.snippetHead}>
        <h3 translate={!named}>{title}</h3>
        <Button small icon={done ? 'check' : 'copy'} aria-label={t('action.copy_what', { what: title })} onClick={copy}>
          {t(done ? 'action.copied' : 'action.copy')}
        </Button>
      </div>
      {/* A scrolling area must be reachable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role="region" aria-label={title} translate={false}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
