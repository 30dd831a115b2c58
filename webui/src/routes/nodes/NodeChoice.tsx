// Which nodes the charts show. The choice is in the address; all of them is no choice.
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import type { BoxNode } from '../../lib/types';
import css from './nodes.module.css';

export function NodeChoice({ all, shown }: { all: readonly BoxNode[]; shown: readonly BoxNode[] }) {
  const choose = (next: readonly BoxNode[]): void => setQuery({ nodes: next.length === all.length || next.length === 0 ? undefined : next.map((node) => node.id).join(' ') });
  const every = shown.length === all.length;
  // The first press of a name means that one alone; further ones add and take away.
  const press = (node: BoxNode): void => choose(every ? [node] : all.filter((one) => (one === node ? !shown.includes(one) : shown.includes(one))));
  return (
    <div class={css.ranges} role="group" aria-label={t('nodes.shown')}>
      <button type="button" aria-pressed={every} onClick={() => choose(all)}>
        {t('nodes.all')}
      </button>
      {all.map((node) => (
        <button key={node.id} type="button" translate={false} aria-pressed={!every && shown.includes(node)} onClick={() => press(node)}>
          {node.name}
        </button>
      ))}
    </div>
  );
}
