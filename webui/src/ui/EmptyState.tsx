// What a list says when it is empty: why, and what to do about it.
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './Icon';
import css from './EmptyState.module.css';

export function EmptyState({ icon, title, children, action }: { icon: IconName; title: string; children?: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class={css.empty}>
      <span class={css.icon}>
        <Icon name={icon} size={28} />
      </span>
      <p class={css.title}>{title}</p>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}
