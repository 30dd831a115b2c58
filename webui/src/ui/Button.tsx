// A push button, or a link that looks like one. Busy buttons keep their width and their focus.
import type { ComponentChildren, ComponentProps } from 'preact';
import { Icon, type IconName } from './Icon';
import css from './Button.module.css';

interface Look {
  variant?: 'primary' | 'secondary' | 'quiet' | 'danger';
  icon?: IconName;
  small?: boolean;
  children?: ComponentChildren;
}

function classes({ variant = 'secondary', small }: Look, iconOnly: boolean): string {
  return [css.button, css[variant], small && css.small, iconOnly && css.iconOnly].filter(Boolean).join(' ');
}

type ButtonProps = Look & { busy?: boolean } & Omit<ComponentProps<'button'>, 'icon' | 'class' | 'className' | 'size'>;

export function Button({ variant, icon, small, busy, children, onClick, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      class={classes({ variant, small }, !children)}
      disabled={disabled}
      aria-busy={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
    >
      {busy ? <span class={css.spinner} /> : icon && <Icon name={icon} />}
      {children && <span>{children}</span>}
    </button>
  );
}

type LinkProps = Look & { href: string; download?: string; label?: string; current?: boolean };

export function LinkButton({ variant, icon, small, children, href, download, label, current }: LinkProps) {
  return (
    <a
      class={classes({ variant, small }, !children)}
      href={href}
      download={download}
      aria-label={label}
      aria-current={current ? 'true' : undefined}
    >
      {icon && <Icon name={icon} />}
      {children && <span>{children}</span>}
    </a>
  );
}
