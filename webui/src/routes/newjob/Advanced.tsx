// What the defaults decide: drawn from the algorithm's own description, so a new parameter shows without a new page.
import { t } from '../../lib/messages';
import type { SchemaColumn } from '../../lib/types-data';
import type { Algorithm, ParameterSchema } from '../../lib/types-models';
import { Card } from '../../ui/Card';
import { Choice, Select, TextArea, TextField } from '../../ui/Field';
import { type Draft, parameterValue, priorities, type Priority, roles } from './draft';
import css from '../models/models.module.css';

interface FieldProps {
  name: string;
  schema: ParameterSchema;
  value: unknown; // undefined: the default
  error?: string;
  onChange: (value: unknown) => void;
}

export function Parameter({ name, schema, value, error, onChange }: FieldProps) {
  const label = schema.title ?? name;
  const hint = schema.description;
  const usual = schema.default;
  const types = [schema.type ?? []].flat();
  if (types.includes('boolean')) {
    return <Choice kind="checkbox" label={label} detail={hint} checked={Boolean(value ?? usual)} onChange={(on) => onChange(on === Boolean(usual) ? undefined : on)} />;
  }
  if (schema.enum) {
    // What each choice is for, where the schema says it.
    const meaning = (one: unknown) => schema.oneOf?.find((each) => each.const === one);
    const chosen = meaning(schema.enum.find((one) => String(one) === String(value ?? usual ?? '')));
    return (
      <Select
        label={label}
        hint={chosen?.description ?? hint}
        error={error}
        value={String(value ?? usual ?? '')}
        onChange={(text) => onChange(text === String(usual) ? undefined : schema.enum?.find((one) => String(one) === text))}
        options={schema.enum.map((one) => ({ value: String(one), label: meaning(one)?.title ?? String(one) }))}
      />
    );
  }
  const whole = types.includes('object') || types.includes('array');
  const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const common = { label, hint, error, value: text, onInput: (typed: string) => onChange(parameterValue(schema, typed)) };
  if (whole) return <TextArea {...common} rows={2} />;
  const placeholder = usual === undefined || usual === null ? '' : String(usual);
  return <TextField {...common} type={types.includes('string') ? 'text' : 'number'} min={schema.minimum} max={schema.maximum} placeholder={placeholder} />;
}

// How columns become numbers. The same for every algorithm that weighs inputs.
const features: Record<string, ParameterSchema> = {
  categories: { enum: ['auto', 'onehot', 'hash'], default: 'auto' },
  numbers: { enum: ['standardise', 'plain', 'hash'], default: 'standardise' },
  hash_bits: { type: 'integer', minimum: 10, maximum: 28, default: 18 },
  frequent_levels: { type: 'integer', minimum: 0, maximum: 65536 },
  levels_max: { type: 'integer', minimum: 2, default: 1000 },
  missing_indicators: { type: 'boolean', default: true },
  texts: { type: 'boolean', default: true },
  interactions: { type: 'array' },
};
type Feature = 'categories' | 'numbers' | 'hash_bits' | 'frequent_levels' | 'levels_max' | 'missing_indicators' | 'texts' | 'interactions';

interface AdvancedProps {
  draft: Draft;
  algorithm: Algorithm | undefined;
  columns: readonly SchemaColumn[];
  fault: (pointer: string) => string | undefined;
  onChange: (change: Partial<Draft>) => void;
}

export function Advanced({ draft, algorithm, columns, fault, onChange }: AdvancedProps) {
  const numbers = columns.filter((column) => column.type === 'real' || column.type === 'integer').map((column) => ({ value: column.name, label: column.name }));
  return (
    <Card>
      <details class={css.details}>
        <summary>{t('newjob.advanced')}</summary>
        <div class={css.form}>
          <p class={css.sub}>{t('newjob.advanced_text')}</p>
          {/* The words are the algorithm's own. */}
          <div class={css.fields} translate={false}>
            {Object.entries(algorithm?.parameters.properties ?? {}).map(([name, schema]) => (
              <Parameter key={name} name={name} schema={schema} value={draft.parameters[name]} error={fault(`/parameters/${name}`)} onChange={(value) => onChange({ parameters: { ...draft.parameters, [name]: value } })} />
            ))}
          </div>
          <h3>{t('newjob.features')}</h3>
          <div class={css.fields}>
            {Object.entries(features).map(([name, schema]) => (
              <Parameter
                key={name}
                name={name}
                schema={{ ...schema, title: t(`feature.${name as Feature}`), description: name === 'interactions' ? t('feature.interactions.hint') : undefined }}
                value={draft.features[name]}
                error={fault(`/features/${name}`)}
                onChange={(value) => onChange({ features: { ...draft.features, [name]: value } })}
              />
            ))}
          </div>
          <h3>{t('newjob.roles')}</h3>
          <div class={css.fields}>
            {roles.map((role) => (
              <Select
                key={role}
                label={t(`newjob.${role}`)}
                hint={t(`newjob.${role}_hint`)}
                value={draft.roles[role]}
                error={fault(`/${role}`)}
                onChange={(value) => onChange({ roles: { ...draft.roles, [role]: value } })}
                options={[{ value: '', label: t('newjob.no_column') }, ...numbers]}
              />
            ))}
            <Select label={t('job.priority')} hint={t('job.priority_text')} value={draft.priority} error={fault('/priority')} onChange={(value) => onChange({ priority: value as Priority })} options={priorities.map((value) => ({ value, label: t(`priority.${value}`) }))} />
            <TextField type="number" label={t('newjob.seed')} hint={t('newjob.seed_hint')} min={0} placeholder="1" value={draft.seed} error={fault('/seed')} onInput={(seed) => onChange({ seed })} />
          </div>
        </div>
      </details>
    </Card>
  );
}
