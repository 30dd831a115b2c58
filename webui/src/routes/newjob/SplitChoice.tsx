// How the model is put to the test: which rows it never sees while it learns.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { SchemaColumn } from '../../lib/types-data';
import { splitKinds } from '../../lib/types-models';
import { Card, Note } from '../../ui/Card';
import { Choice, Select, TextField } from '../../ui/Field';
import type { Draft } from './draft';
import css from '../models/models.module.css';

interface SplitProps {
  draft: Draft;
  columns: readonly SchemaColumn[];
  groups: readonly string[];
  advice: readonly string[];
  fault: (pointer: string) => string | undefined;
  onChange: (change: Partial<Draft>) => void;
}

export function SplitChoice({ draft, columns, groups, advice, fault, onChange }: SplitProps) {
  const times = columns.filter((column) => column.type === 'time').map((column) => column.name);
  // A column for groups or folds may be any; the likely ones come first.
  const candidates = draft.split === 'time' ? times : [...groups, ...columns.map((column) => column.name).filter((name) => !groups.includes(name) && name !== draft.target)];
  const choose = (split: Draft['split']): void => onChange({ split, splitColumn: split === 'random' || split === 'folds' ? '' : split === 'time' ? (times[0] ?? '') : (groups[0] ?? '') });
  const share = (name: 'valid' | 'test') => (
    <TextField
      type="number"
      label={t(`newjob.${name}`)}
      min={0}
      max={90}
      value={String(Math.round(draft[name] * 100))}
      error={fault(`/split/${name}`)}
      onInput={(value) => onChange({ [name]: (Number(value) || 0) / 100 })}
    />
  );
  return (
    <Card title={t('newjob.split')}>
      <div class={css.form}>
        {advice.map((sentence) => (
          <Note key={sentence} tone="warning">
            {sentence}
          </Note>
        ))}
        <fieldset class={css.cards}>
          <legend class="visually-hidden">{t('newjob.split')}</legend>
          {splitKinds.map((kind) => (
            <Choice key={kind} card kind="radio" name="split" label={t(`split.${kind}`)} detail={t(`split.${kind}.text`)} checked={draft.split === kind} onChange={() => choose(kind)} />
          ))}
        </fieldset>
        <div class={css.fields}>
          {draft.split !== 'random' && (
            <Select
              label={t(`split.${draft.split}.column`)}
              value={draft.splitColumn}
              error={fault('/split/column')}
              onChange={(splitColumn) => onChange({ splitColumn })}
              options={[{ value: '', label: t(draft.split === 'folds' ? 'split.no_column' : 'split.choose') }, ...candidates.map((value) => ({ value, label: value }))]}
            />
          )}
          {share('valid')}
          {draft.split === 'folds' ? (
            <TextField type="number" label={t('newjob.folds')} min={2} max={20} value={f.number(draft.folds)} error={fault('/split/folds')} onInput={(value) => onChange({ folds: Number(value) || 0 })} />
          ) : (
            share('test')
          )}
        </div>
      </div>
    </Card>
  );
}
