// How a file is read, where the box guessed wrong. Each choice begins at "as found"; a change looks at the file anew.
import { t, tMaybe } from '../../lib/messages';
import type { Hints, ParseOptions } from '../../lib/types-data';
import { Select } from '../../ui/Field';
import css from './datasets.module.css';

const formats = ['csv', 'jsonl', 'libsvm', 'arff', 'pairs'];
const encodings = ['utf8', 'latin1', 'utf16le', 'utf16be'];
const delimiters = [',', ';', '\t', '|', ' '];
const signs: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar', ' ': 'space', '.': 'point' };

export const signName = (sign: string): string => tMaybe(`sign.${signs[sign] ?? ''}`, `“${sign}”`);

interface Props {
  hints: Hints;
  options: ParseOptions | null;
  onChange: (hints: Hints) => void;
  busy: boolean;
}

export function ReadingOptions({ hints, options, onChange, busy }: Props) {
  const set = (name: keyof Hints, value: string | boolean | number | undefined): void => {
    const next: Hints = { ...hints, [name]: value };
    if (value === undefined) delete next[name];
    onChange(next);
  };
  // The first option says what was found, as long as it is not overruled.
  const found = (name: keyof Hints, text: string | undefined): { value: string; label: string } => ({
    value: '',
    label: hints[name] === undefined && text ? t('review.as_found_is', { what: text }) : t('review.as_found'),
  });
  const csv = (hints.format ?? options?.format ?? 'csv') === 'csv';
  return (
    <details class={css.reading}>
      <summary>{t('review.not_right')}</summary>
      <div class={css.options} aria-busy={busy || undefined}>
        <Select
          label={t('review.format')}
          value={hints.format ?? ''}
          onChange={(value) => set('format', value || undefined)}
          options={[found('format', options && tMaybe(`format.${options.format}`, options.format) || undefined), ...formats.map((value) => ({ value, label: tMaybe(`format.${value}`, value) }))]}
        />
        {csv && (
          <>
            <Select
              label={t('review.delimiter')}
              value={hints.delimiter ?? ''}
              onChange={(value) => set('delimiter', value || undefined)}
              options={[found('delimiter', options ? signName(options.delimiter) : undefined), ...delimiters.map((value) => ({ value, label: signName(value) }))]}
            />
            <Select
              label={t('review.first_line')}
              value={hints.header === undefined ? '' : hints.header ? 'yes' : 'no'}
              onChange={(value) => set('header', value === '' ? undefined : value === 'yes')}
              options={[
                found('header', options ? t(options.header ? 'review.header_yes' : 'review.header_no') : undefined),
                { value: 'yes', label: t('review.header_yes') },
                { value: 'no', label: t('review.header_no') },
              ]}
            />
            <Select
              label={t('review.decimal')}
              value={hints.decimal ?? ''}
              onChange={(value) => set('decimal', value || undefined)}
              options={[found('decimal', options ? signName(options.decimal) : undefined), ...['.', ','].map((value) => ({ value, label: signName(value) }))]}
            />
          </>
        )}
        <Select
          label={t('review.encoding')}
          value={hints.encoding ?? ''}
          onChange={(value) => set('encoding', value || undefined)}
          options={[
            found('encoding', options ? tMaybe(`encoding.${options.encoding}`, options.encoding) : undefined),
            ...encodings.map((value) => ({ value, label: tMaybe(`encoding.${value}`, value) })),
          ]}
        />
      </div>
    </details>
  );
}
