// A large field for the digits on another screen, in groups of three. Pasting works; nothing remembers it.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Shell, type Common } from '../../ui/Field';
import { caretAfter, digitsOf, grouped } from './code';
import css from './peers.module.css';

export function CodeInput({ label, hint, error, value, onInput, disabled }: Common & { value: string; onInput: (digits: string) => void; disabled?: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const caret = useRef<number | null>(null);
  useLayoutEffect(() => {
    const at = caret.current;
    caret.current = null;
    if (at !== null) input.current?.setSelectionRange(at, at);
  }, [value]);
  return (
    <Shell label={label} hint={hint} error={error}>
      {({ id, described, invalid }) => (
        <input
          ref={input}
          id={id}
          class={css.code}
          type="text"
          inputMode="numeric"
          autocomplete="off"
          spellcheck={false}
          placeholder="000 000"
          value={grouped(value)}
          disabled={disabled}
          aria-describedby={described}
          aria-invalid={invalid}
          data-autofocus=""
          onInput={(event) => {
            const field = event.currentTarget;
            caret.current = caretAfter(field.value, field.selectionStart ?? field.value.length);
            const digits = digitsOf(field.value);
            // A letter changes nothing, so nothing is drawn anew: take it out here.
            field.value = grouped(digits);
            onInput(digits);
          }}
        />
      )}
    </Shell>
  );
}
