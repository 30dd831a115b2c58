// Labelled inputs. The hint and the error are tied to the input, so they are read with it.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from './Icon';
import css from './Field.module.css';

export interface Common {
  label: string;
  hint?: ComponentChildren;
  error?: string;
}
interface Parts {
  id: string;
  described: string | undefined;
  invalid: boolean | undefined;
}

export function Shell({ label, hint, error, children }: Common & { children: (parts: Parts) => ComponentChildren }) {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return (
    <div class={css.field}>
      <label for={id} class={css.label}>
        {label}
      </label>
      {children({ id, described, invalid: error ? true : undefined })}
      {error && (
        <p id={`${id}-error`} class={css.error}>
          <Icon name="critical" size={16} />
          {error}
        </p>
      )}
      {hint && (
        <div id={`${id}-hint`} class={css.hint}>
          {hint}
        </div>
      )}
    </div>
  );
}

interface TextProps extends Common {
  value: string;
  onInput: (value: string) => void;
  name?: string;
  type?: 'text' | 'search' | 'number' | 'datetime-local';
  autocomplete?: string;
  required?: boolean;
  mono?: boolean;
  min?: number;
  max?: number;
  maxLength?: number;
  placeholder?: string;
  search?: boolean;
  autoFocus?: boolean;
  spellcheck?: boolean;
}

export function TextField({ value, onInput, mono, search, autoFocus, spellcheck = false, type = 'text', ...rest }: TextProps) {
  const { label, hint, error, ...input } = rest;
  return (
    <Shell label={label} hint={hint} error={error}>
      {({ id, described, invalid }) => (
        <input
          {...input}
          id={id}
          type={type as 'text'}
          class={`${css.input} ${mono ? css.mono : ''}`}
          value={value}
          spellcheck={spellcheck}
          autocapitalize="off"
          aria-describedby={described}
          aria-invalid={invalid}
          data-search={search ? '' : undefined}
          data-autofocus={autoFocus ? '' : undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Shell>
  );
}

export function TextArea({ label, hint, error, value, onInput, rows = 3, maxLength }: Common & { value: string; onInput: (v: string) => void; rows?: number; maxLength?: number }) {
  return (
    <Shell label={label} hint={hint} error={error}>
      {({ id, described, invalid }) => (
        <textarea
          id={id}
          rows={rows}
          maxLength={maxLength}
          class={css.input}
          value={value}
          aria-describedby={described}
          aria-invalid={invalid}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Shell>
  );
}

interface SelectProps extends Common {
  value: string;
  onChange: (value: string) => void;
  options: readonly { value: string; label: string }[];
}

export function Select({ label, hint, error, value, onChange, options }: SelectProps) {
  return (
    <Shell label={label} hint={hint} error={error}>
      {({ id, described, invalid }) => (
        <select id={id} class={css.input} value={value} aria-describedby={described} aria-invalid={invalid} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Shell>
  );
}

interface ChoiceProps {
  kind: 'radio' | 'checkbox';
  label: string;
  detail?: ComponentChildren;
  checked: boolean;
  onChange: (checked: boolean) => void;
  name?: string;
  card?: boolean;
}

export function Choice({ kind, label, detail, checked, onChange, name, card }: ChoiceProps) {
  const id = useId();
  return (
    <div class={`${css.choice} ${card ? css.card : ''}`} data-checked={checked}>
      <input id={id} type={kind} name={name} checked={checked} aria-describedby={detail ? `${id}-detail` : undefined} onChange={(event) => onChange(event.currentTarget.checked)} />
      <div>
        <label for={id}>{label}</label>
        {detail && (
          <div id={`${id}-detail`} class={css.hint}>
            {detail}
          </div>
        )}
      </div>
    </div>
  );
}
