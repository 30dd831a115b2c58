// Whether what is shown is true now.
import { time } from '../lib/format';
import { t } from '../lib/messages';
import { live } from '../lib/stores';
import css from './LivePill.module.css';

export function LivePill() {
  const { state, since } = live.value;
  const text = state === 'lost' ? t('live.lost', { time: time(new Date(since)) }) : t(state === 'live' ? 'live.live' : 'live.connecting');
  return (
    <span class={`${css.pill} ${css[state]}`} role="status" data-live={state}>
      <span class={css.dot} />
      {text}
    </span>
  );
}
