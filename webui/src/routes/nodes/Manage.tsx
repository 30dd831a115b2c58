// What can be done with one node, beside what one must know to decide it.
import '../../messages/en-node';
import { useState } from 'preact/hooks';
import { drainNode, resumeNode } from '../../lib/api-cluster';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { isAdmin, members, serverNow, toast } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import { Button, LinkButton } from '../../ui/Button';
import { Lazy } from '../../ui/Lazy';
import { useAction } from '../../ui/useAction';
import { Fact } from './Fact';
import { voiceOf } from './NodeState';
import css from './nodes.module.css';

const removal = () => import('./RemoveNode');

function Actions({ node }: { node: BoxNode }) {
  const action = useAction(true);
  const [removing, setRemoving] = useState(false);
  const act = (work: (id: string) => Promise<void>, told: 'node.drained' | 'node.resumed'): void =>
    void action.run(async () => {
      await work(node.id);
      toast(t(told, { name: node.name }), { tone: 'ok' });
    });
  return (
    <>
      <div class={css.tools}>
        {node.state === 'draining' ? (
          <Button small icon="play" busy={action.busy} onClick={() => act(resumeNode, 'node.resumed')}>
            {t('node.resume')}
          </Button>
        ) : (
          <Button small icon="pause" busy={action.busy} onClick={() => act(drainNode, 'node.drained')}>
            {t('node.drain')}
          </Button>
        )}
        <Button small icon="bin" onClick={() => setRemoving(true)}>
          {t('node.remove')}
        </Button>
      </div>
      <p class={css.hint}>{t('node.drain_text')}</p>
      {removing && <Lazy load={removal} props={{ node, onClose: () => setRemoving(false) }} />}
    </>
  );
}

export default function Manage({ node, plain }: { node: BoxNode; plain?: boolean }) {
  const voice = voiceOf(node);
  return (
    <div class={plain ? css.plain : css.manage}>
      <dl class={css.facts}>
        <Fact name={t('node.addresses')}>{f.join(node.addresses) || '–'}</Fact>
        {voice !== 'none' && node.state !== 'removed' && (
          <Fact name={t('node.voice')}>
            {t(`node.voice.${voice}`)}
            <span class={css.sub}>{t(`node.voice.${voice}_text`)}</span>
          </Fact>
        )}
        {!node.self && <Fact name={t('node.rtt')}>{node.rtt_ms === null || node.rtt_ms === undefined ? '–' : t('node.ms', { ms: f.number(node.rtt_ms, 1) })}</Fact>}
        {!node.self && node.heard_at && <Fact name={t('node.heard_title')}>{f.ago(node.heard_at, serverNow())}</Fact>}
        <Fact name={t('node.id')}>
          <code>{node.id}</code>
        </Fact>
      </dl>
      {!node.self && node.url && node.state !== 'removed' && (
        <div class={css.tools}>
          <LinkButton small icon="devices" href={node.url}>
            {t('node.dashboard')}
          </LinkButton>
        </div>
      )}
      {isAdmin.value && members.value.total > 1 && node.state !== 'removed' && <Actions node={node} />}
    </div>
  );
}
