// How a node is, in words, shape and colour; and what part it has in deciding.
import * as f from '../../lib/format';
import { t, tMaybe } from '../../lib/messages';
import { serverNow } from '../../lib/stores';
import type { BoxNode, NodeState as State } from '../../lib/types';
import { Badge, type Tone } from '../../ui/Badge';
import css from './nodes.module.css';

const tones: Record<State, Tone> = { up: 'ok', unreachable: 'critical', draining: 'warning', removed: 'neutral' };

export const isGone = (node: BoxNode): boolean => node.state === 'unreachable' || node.state === 'removed';

export function NodeState({ node, part }: { node: BoxNode; part?: boolean }) {
  const voice = voiceOf(node);
  return (
    <>
      <Badge tone={tones[node.state] ?? 'neutral'} text={tMaybe(`node.state.${node.state}`, node.state)} />
      {part && voice !== 'none' && <span class={node.leader ? css.leader : css.sub}>{t(`node.voice.${voice}`)}</span>}
      {isGone(node) && <span class={css.sub}>{node.heard_at ? t('node.heard', { when: f.ago(node.heard_at, serverNow()) }) : t('node.heard_never')}</span>}
    </>
  );
}

export const voiceOf = (node: BoxNode): 'leader' | 'voter' | 'standby' | 'none' => (node.leader ? 'leader' : (node.voice ?? 'none'));
