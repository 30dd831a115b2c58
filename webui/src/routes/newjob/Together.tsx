// How several nodes make one model: the strategy, how many of them, and what happens when one is lost.
import { t } from '../../lib/messages';
import { nodes } from '../../lib/stores';
import type { Algorithm } from '../../lib/types-models';
import { Card } from '../../ui/Card';
import { Select, TextField } from '../../ui/Field';
import { Parameter } from './Advanced';
import { onLost, type Draft, type OnLost } from './draft';
import css from '../models/models.module.css';

interface TogetherProps {
  draft: Draft;
  algorithm: Algorithm | undefined;
  fault: (pointer: string) => string | undefined;
  onChange: (change: Partial<Draft>) => void;
}

export function Several({ draft, algorithm, fault, onChange }: TogetherProps) {
  // Which strategy, then its fine points.
  const entries = Object.entries(algorithm?.strategy?.properties ?? {}).sort(([, a], [, b]) => Number(a['x-advanced'] ?? false) - Number(b['x-advanced'] ?? false));
  return (
    <Card>
      {/* A box alone has no use for it, but may get neighbours. */}
      <details class={css.details}>
        <summary>{t('newjob.several', { count: nodes.value.size || 1 })}</summary>
        <div class={css.form}>
          <p class={css.sub}>{t('newjob.several_text')}</p>
          {/* The words are the algorithm's own. */}
          <div class={css.fields} translate={false}>
            {entries.map(([name, schema]) => (
              <Parameter key={name} name={name} schema={schema} value={draft.strategy[name]} error={fault(`/strategy/${name}`)} onChange={(value) => onChange({ strategy: { ...draft.strategy, [name]: value } })} />
            ))}
          </div>
          <div class={css.fields}>
            <TextField type="number" min={1} label={t('newjob.nodes_min')} hint={t('newjob.nodes_min_hint')} placeholder="1" value={draft.nodesMin} error={fault('/nodes/min')} onInput={(nodesMin) => onChange({ nodesMin })} />
            <TextField type="number" min={1} label={t('newjob.nodes_max')} hint={t('newjob.nodes_max_hint')} value={draft.nodesMax} error={fault('/nodes/max')} onInput={(nodesMax) => onChange({ nodesMax })} />
            <Select label={t('newjob.on_lost')} value={draft.onLost} error={fault('/on_lost_node')} onChange={(value) => onChange({ onLost: value as OnLost })} options={onLost.map((value) => ({ value, label: t(`on_lost.${value}`) }))} />
          </div>
        </div>
      </details>
    </Card>
  );
}
