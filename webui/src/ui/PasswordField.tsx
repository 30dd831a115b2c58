// A password: it can be shown, pasted and made by a manager; a new one gets guidance while it is typed.
import { useState } from 'preact/hooks';
import { guidance } from '../lib/password';
import { t } from '../lib/messages';
import { Shell, type Common } from './Field';
import { Icon } from './Icon';
import css from './Field.module.css';

interface PasswordProps extends Common {
  value: string;
  onInput: (value: string) => void;
  name?: string;
  fresh?: boolean; // a new password: guidance is shown and managers offer to make one
  username?: string;
  autoFocus?: boolean;
}

export function PasswordField({ label, hint, error, value, onInput, name, fresh, username, autoFocus }: PasswordProps) {
  const [shown, setShown] = useState(false);
  const advice = fresh ? guidance(value, username) : null;
  return (
    <Shell label={label} hint={hint} error={error}>
      {({ id, described, invalid }) => (
        <>
          <div class={css.password}>
            <input
              id={id}
              name={name}
              type={(shown ? 'text' : 'password') as 'text'}
              class={`${css.input} ${shown ? css.mono : ''}`}
              value={value}
              autocomplete={fresh ? 'new-password' : 'current-password'}
              spellcheck={false}
              autocapitalize="off"
              aria-describedby={[described, advice && `${id}-advice`].filter(Boolean).join(' ') || undefined}
              aria-invalid={invalid}
              data-autofocus={autoFocus ? '' : undefined}
              onInput={(event) => onInput(event.currentTarget.value)}
            />
            <button type="button" class={css.show} aria-pressed={shown} aria-label={t('password.show')} title={t('password.show')} onClick={() => setShown(!shown)}>
              <Icon name={shown ? 'eyeOff' : 'eye'} />
            </button>
          </div>
          {advice && (
            <div class={css.advice} id={`${id}-advice`} data-level={value ? advice.level : 'none'}>
              <span class={css.bars} aria-hidden="true">
                <i />
                <i />
                <i />
              </span>
              <span>{advice.text}</span>
            </div>
          )}
        </>
      )}
    </Shell>
  );
}
