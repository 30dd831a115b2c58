// Which columns the model may look at: all that can help, unless somebody unticks them.
import { useState } from 'preact/hooks';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { SchemaColumn } from '../../lib/types-data';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Choice, TextField } from '../../ui/Field';
import css from '../models/models.module.css';

const portion = 60;

interface InputsProps {
  columns: readonly SchemaColumn[];
  left: ReadonlySet<string>;
  identifiers: ReadonlySet<string>;
  error?: string;
  onChange: (left: ReadonlySet<string>) => void;
}

export function Inputs({ columns, left, identifiers, error, onChange }: InputsProps) {
  const [q, setQ] = useState('');
  const [shown, setShown] = useState(portion);
  const found = columns.filter((column) => column.name.toLowerCase().includes(q.toLowerCase()));
  const set = (names: readonly string[], on: boolean): void => {
    const next = new Set(left);
    for (const name of names) if (on) next.delete(name); else next.add(name);
    onChange(next);
  };
  const detail = (column: SchemaColumn) => (
    <>
      {t(`type.${column.type}`)} {identifiers.has(column.name) && <Badge plain tone="neutral" text={t('newjob.identifier')} />}
      {column.sensitive && <Badge plain tone="warning" text={t('columns.sensitive')} />}
    </>
  );
  const names = found.map((column) => column.name);
  return (
    <Card
      title={t('newjob.inputs')}
      actions={
        <>
          <Button small variant="quiet" onClick={() => set(names, true)}>
            {t('newjob.all')}
          </Button>
          <Button small variant="quiet" onClick={() => set(names, false)}>
            {t('newjob.none')}
          </Button>
        </>
      }
    >
      <div class={css.form}>
        <p class={css.sub}>{t('newjob.inputs_text', { count: columns.filter((column) => !left.has(column.name)).length, all: f.number(columns.length) })}</p>
        {error && <p class={css.error}>{error}</p>}
        {columns.length > 20 && <TextField type="search" label={t('columns.search')} value={q} onInput={setQ} />}
        <fieldset class={css.boxes}>
          <legend class="visually-hidden">{t('newjob.inputs')}</legend>
          {found.slice(0, shown).map((column) => (
            <div key={column.name} translate={false}>
              <Choice kind="checkbox" label={column.name} detail={detail(column)} checked={!left.has(column.name)} onChange={(on) => set([column.name], on)} />
            </div>
          ))}
        </fieldset>
        {found.length > shown && <Button onClick={() => setShown(shown + 4 * portion)}>{t('columns.more', { count: found.length - shown })}</Button>}
      </div>
    </Card>
  );
}
