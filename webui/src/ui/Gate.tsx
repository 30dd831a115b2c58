// The page before the pages: wizard, log-in, locked. One card, the logo, and where one is.
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../lib/messages';
import { setup } from '../lib/stores';
import { Logo } from './Logo';
import css from './Gate.module.css';

export function Gate({ title, lead, children, wide, above }: { title: string; lead?: string; children: ComponentChildren; wide?: boolean; above?: ComponentChildren }) {
  useEffect(() => {
    document.title = t('frame.title', { page: title });
  }, [title]);
  const info = setup.value;
  return (
    <div class={css.gate}>
      <header class={css.brand}>
        <Logo size={40} />
        <span>
          <b>{t('app.name')}</b>
          {info && <span>{info.node.hostname}</span>}
        </span>
      </header>
      <main class={`${css.card} ${wide ? css.wide : ''}`}>
        {above}
        <h1 tabIndex={-1}>{title}</h1>
        {lead && <p class={css.lead}>{lead}</p>}
        {children}
      </main>
      {info && (
        <footer class={css.foot}>
          <span>{t('frame.version', { version: info.version })}</span>
          <span>{info.node.model}</span>
        </footer>
      )}
    </div>
  );
}
