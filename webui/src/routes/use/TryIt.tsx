// One case, asked by hand: a field per input, filled with an example, and the answer with its reasons.
import { useRef, useState } from 'preact/hooks';
import * as models from '../../lib/api-models';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { PredictAnswer, Prediction, SignatureInput } from '../../lib/types-models';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Select, TextArea, TextField } from '../../ui/Field';
import { Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { Bar } from '../model/Bar';
import { className } from '../models/words';
import { exampleRow, shownValue, toRow, type Typed } from './rows';
import css from '../models/models.module.css';

const levelsMax = 60;

function Input({ input, value, onInput }: { input: SignatureInput; value: string; onInput: (value: string) => void }) {
  const missing = { value: '', label: t('try.missing') };
  if (input.type === 'boolean') {
    return <Select label={input.name} value={value} onChange={onInput} options={[{ value: 'true', label: t('type.yes') }, { value: 'false', label: t('type.no') }, missing]} />;
  }
  const levels = input.levels ?? [];
  if (levels.length > 0 && levels.length <= levelsMax) {
    const all = value && !levels.includes(value) ? [value, ...levels] : levels;
    return <Select label={input.name} value={value} onChange={onInput} options={[...all.map((level) => ({ value: level, label: level })), missing]} />;
  }
  if (input.type === 'text') return <TextArea label={input.name} rows={2} value={value} onInput={onInput} />;
  const numeric = input.type === 'real' || input.type === 'integer';
  const span = numeric && typeof input.min === 'number' && typeof input.max === 'number' ? t('try.range', { min: f.figure(input.min), max: f.figure(input.max) }) : undefined;
  return <TextField label={input.name} hint={span} value={value} placeholder={t('try.missing')} onInput={onInput} />;
}

function reasonText(input: SignatureInput | undefined, value: string | number | boolean | null): string {
  if (value === null || value === '') return t('try.missing');
  if (input?.type === 'boolean') return t(String(value) === 'true' ? 'type.yes' : 'type.no');
  return input ? shownValue(input, value) : String(value);
}

function Reasons({ one, inputs }: { one: Prediction; inputs: readonly SignatureInput[] }) {
  const list = one.reasons ?? [];
  if (list.length === 0) return null;
  const top = Math.max(1e-12, ...list.map((reason) => Math.abs(reason.contribution)));
  return (
    <>
      <h3>{t('try.reasons')}</h3>
      <p class={css.sub}>{t('try.reasons_text')}</p>
      <ol class={css.reasons}>
        {list.map((reason) => (
          <li key={reason.input}>
            <span translate={false}>
              {reason.input} <b>{reasonText(inputs.find((input) => input.name === reason.input), reason.value)}</b>
            </span>
            <Bar signed share={reason.contribution / top} />
            <span>{t(reason.contribution < 0 ? 'try.lowers' : 'try.raises', { size: f.number(Math.abs(reason.contribution), 2) })}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

export function Answer({ answer, target, inputs }: { answer: PredictAnswer; target: string; inputs: readonly SignatureInput[] }) {
  const one = answer.predictions[0];
  if (!one) return null;
  const classes = answer.classes ?? [];
  const shares = one.probabilities ?? (classes.length === 2 ? [1 - one.value, one.value] : []);
  return (
    <div class={css.form}>
      <p class={css.answer}>
        <span translate={false}>{target}</span> <strong translate={false}>{one.label === undefined ? f.figure(one.value) : className(one.label, classes)}</strong>
      </p>
      {classes.length > 0 && (
        <ul class={css.bars} aria-label={t('try.probability')}>
          {classes.map((name, index) => (
            <li key={name}>
              <span translate={false}>{className(name, classes)}</span>
              <Bar share={shares[index] ?? 0} />
              <b>{f.percent(shares[index], 1)}</b>
            </li>
          ))}
        </ul>
      )}
      {answer.warnings.map((warning, index) => (
        <Note key={index} tone="warning">
          {warning.detail}
        </Note>
      ))}
      <Reasons one={one} inputs={inputs} />
      <p class={css.sub}>{t('try.by', { model: answer.model, version: answer.version })}</p>
    </div>
  );
}

interface TryProps {
  model: string;
  version: number;
  target: string;
  inputs: readonly SignatureInput[];
  onRow: (row: Record<string, unknown>) => void;
}

export function TryIt({ model, version, target, inputs, onRow }: TryProps) {
  const [typed, setTyped] = useState<Typed>(() => exampleRow(inputs));
  const [answer, setAnswer] = useState<PredictAnswer | null>(null);
  const action = useAction();
  const result = useRef<HTMLDivElement>(null);
  const set = (next: Typed): void => {
    setTyped(next);
    onRow(toRow(inputs, next));
  };
  const ask = (event: Event): void => {
    event.preventDefault();
    void action.run(async () => {
      setAnswer(await models.predict(model, version, toRow(inputs, typed)));
      // On a phone the answer is below the last field.
      result.current?.scrollIntoView?.({ block: 'nearest' });
    });
  };
  return (
    <div class={css.tryIt}>
      <Card
        title={t('try.title')}
        actions={
          <Button small variant="quiet" onClick={() => set(exampleRow(inputs))}>
            {t('try.example')}
          </Button>
        }
      >
        <form class={css.form} novalidate onSubmit={ask}>
          <p class={css.sub}>{t('try.text')}</p>
          <div class={css.small} translate={false}>
            {inputs.map((input) => (
              <Input key={input.name} input={input} value={typed[input.name] ?? ''} onInput={(value) => set({ ...typed, [input.name]: value })} />
            ))}
          </div>
          <div class={css.row}>
            <Button type="submit" variant="primary" icon="play" busy={action.busy}>
              {t('try.ask')}
            </Button>
          </div>
        </form>
      </Card>
      <div ref={result} class={css.sticky}>
        <Card title={t('try.answer')}>
          <Problem error={action.error} />
          <div role="status">{answer ? <Answer answer={answer} target={target} inputs={inputs} /> : <p class={css.sub}>{t('try.waiting')}</p>}</div>
        </Card>
      </div>
    </div>
  );
}
