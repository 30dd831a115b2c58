// A surface with an optional heading and actions; and the note that stands out inside pages.
import type { ComponentChildren } from 'preact';
import { Icon } from './Icon';
import css from './Card.module.css';

interface CardProps {
  title?: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  flush?: boolean; // tables run to the edges
}

export function Card({ title, actions, children, flush }: CardProps) {
  return (
    <section class={css.card}>
      {(title || actions) && (
        <div class={css.head}>
          {title && <h2>{title}</h2>}
          {actions && <div class={css.actions}>{actions}</div>}
        </div>
      )}
      <div class={flush ? css.flush : css.body}>{children}</div>
    </section>
  );
}

export function Note({ tone, children, live }: { tone: 'info' | 'ok' | 'warning' | 'critical'; children: ComponentChildren; live?: boolean }) {
  return (
    <div class={`${css.note} ${css[tone]}`} role={live ? (tone === 'critical' ? 'alert' : 'status') : undefined}>
      <Icon name={tone} size={20} />
      <div class={css.text}>{children}</div>
    </div>
  );
}
