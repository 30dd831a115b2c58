// A state in words, with a shape and a colour: any two of the three may be lost and it still reads.
import { Icon, type IconName } from './Icon';
import css from './Badge.module.css';

export type Tone = 'ok' | 'warning' | 'critical' | 'neutral' | 'info';
const shapes: Record<Tone, IconName> = { ok: 'ok', warning: 'warning', critical: 'critical', neutral: 'off', info: 'info' };

export function Badge({ tone, text, plain }: { tone: Tone; text: string; plain?: boolean }) {
  return (
    <span class={`${css.badge} ${css[tone]} ${plain ? css.plain : ''}`}>
      <Icon name={shapes[tone]} size={15} />
      {text}
    </span>
  );
}
