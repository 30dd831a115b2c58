// From a box in the list to a member: password, then the digits from its screen, then how it ended.
//
//   password ─▶ code ─▶ joined
//                └─▶ over (too many wrong digits, time over, the other box or somebody else gave up)
//
// Closing the dialog leaves the join as it is: the list offers to go on. Only the button cancels it.
import { useState } from 'preact/hooks';
import { ApiError, errorText } from '../../lib/api';
import { approvePeer, cancelPeer, confirmPeer } from '../../lib/api-cluster';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { peersChanged, toast } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import type { Join, Peer } from '../../lib/types-cluster';
import { Button, LinkButton } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Dialog } from '../../ui/Dialog';
import { PasswordField } from '../../ui/PasswordField';
import { Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useSecondsUntil } from '../../ui/useSecondsUntil';
import { codeLength } from './code';
import { CodeInput } from './CodeInput';
import css from './peers.module.css';

interface StepProps {
  peer: Peer;
  onClose: () => void;
}

function PasswordStep({ peer, onClose, onJoin }: StepProps & { onJoin: (join: Join) => void }) {
  const [password, setPassword] = useState('');
  const action = useAction();
  const submit = (): void =>
    void action.run(async () => {
      try {
        onJoin(await approvePeer(peer.id, password));
      } catch (error) {
        setPassword('');
        throw error;
      }
    });
  return (
    <Dialog
      title={t('approve.title', { id: peer.short_id })}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button type="submit" variant="primary" busy={action.busy} disabled={!password}>
            {t('approve.submit')}
          </Button>
        </>
      }
    >
      <div class={css.compare}>
        <p>{t('approve.compare')}</p>
        <code class={css.identity}>{peer.short_id}</code>
      </div>
      <Problem error={action.error} />
      <PasswordField label={t('login.password')} hint={t('approve.password_text')} value={password} onInput={setPassword} autoFocus />
    </Dialog>
  );
}

function Says({ join }: { join: Join }) {
  const { node } = join;
  const off = Math.abs(node.clock_skew_s);
  return (
    <div>
      <h3>{t('approve.says')}</h3>
      <dl class={css.says}>
        <div>
          <dt>{t('approve.hostname')}</dt>
          <dd translate={false}>{node.hostname}</dd>
        </div>
        <div>
          <dt>{t('approve.model')}</dt>
          <dd>{f.join([node.model, node.arch])}</dd>
        </div>
        <div>
          <dt>{t('approve.memory')}</dt>
          <dd>{f.bytes(node.memory_bytes)}</dd>
        </div>
        <div>
          <dt>{t('approve.disk')}</dt>
          <dd>{f.bytes(node.disk_bytes)}</dd>
        </div>
        <div>
          <dt>{t('approve.clock')}</dt>
          <dd>{off < 5 ? t('approve.clock_ok') : t('approve.clock_off', { time: f.duration(off) })}</dd>
        </div>
      </dl>
    </div>
  );
}

function CodeStep({ peer, join, onClose, onEnd }: StepProps & { join: Join; onEnd: (end: End) => void }) {
  const [code, setCode] = useState('');
  const [wrong, setWrong] = useState('');
  const [tries, setTries] = useState(join.tries_left);
  const action = useAction();
  const left = useSecondsUntil(join.expires_at);
  const confirm = (): void => {
    if (code.length < codeLength) return setWrong(t('approve.code_error'));
    setWrong('');
    void action.run(async () => {
      try {
        onEnd({ node: await confirmPeer(peer.id, code) });
      } catch (error) {
        setCode('');
        if (!(error instanceof ApiError)) throw error;
        if (error.code === 'wrong_code') {
          setTries(error.problem.tries_left ?? tries - 1);
          setWrong(t('approve.wrong'));
        } else if (error.code === 'join_over') onEnd({ why: error.problem.detail || errorText(error) });
        else throw error;
      }
    });
  };
  const cancel = (): void =>
    void action.run(async () => {
      await cancelPeer(peer.id);
      peersChanged.value += 1;
      toast(t('approve.cancelled'));
      onClose();
    });
  const expired = left === 0 && !action.busy;
  return (
    <Dialog
      title={t('approve.title', { id: peer.short_id })}
      onClose={onClose}
      onSubmit={confirm}
      footer={
        expired ? (
          <Button onClick={() => onEnd({ why: '' })}>{t('approve.again')}</Button>
        ) : (
          <>
            <Button onClick={cancel}>{t('approve.cancel')}</Button>
            <Button type="submit" variant="primary" busy={action.busy}>
              {t('approve.confirm')}
            </Button>
          </>
        )
      }
    >
      <Problem error={action.error} />
      <p>{t('approve.code_text')}</p>
      <CodeInput label={t('approve.code')} value={code} onInput={setCode} error={wrong} disabled={expired} />
      <p class={css.limits}>
        <span role="status">{t('approve.tries', { count: tries })}</span>
        <span data-late={left < 60 || undefined}>{t('approve.left', { time: f.countdown(left) })}</span>
      </p>
      {expired && (
        <Note tone="warning" live>
          {t('approve.expired')}
        </Note>
      )}
      {action.busy && <p role="status">{t('approve.joining')}</p>}
      <Says join={join} />
    </Dialog>
  );
}

type End = { node: BoxNode } | { why: string };

function EndStep({ end, onClose, onAgain }: { end: End; onClose: () => void; onAgain: () => void }) {
  const node = 'node' in end ? end.node : null;
  return (
    <Dialog
      title={node ? t('approve.joined', { name: node.name || node.hostname }) : t('approve.over')}
      onClose={onClose}
      footer={
        node ? (
          <>
            <Button onClick={onClose}>{t('approve.another')}</Button>
            <LinkButton variant="primary" href="/nodes">
              {t('approve.to_nodes')}
            </LinkButton>
          </>
        ) : (
          <>
            <Button onClick={onClose}>{t('action.close')}</Button>
            <Button variant="primary" data-autofocus="" onClick={onAgain}>
              {t('approve.again')}
            </Button>
          </>
        )
      }
    >
      {'why' in end ? (
        <Note tone="warning" live>
          {end.why || t('approve.expired')}
        </Note>
      ) : (
        <Note tone="ok" live>
          {t('approve.joined_text')}
        </Note>
      )}
    </Dialog>
  );
}

export function ApproveDialog({ peer, onClose }: StepProps) {
  const [join, setJoin] = useState<Join | null>(peer.join);
  const [end, setEnd] = useState<End | null>(null);
  const finish = (how: End): void => {
    peersChanged.value += 1;
    setEnd(how);
  };
  const again = (): void => {
    setEnd(null);
    setJoin(null);
  };
  // Each step is a dialog of its own: the focus begins anew.
  if (end) return <EndStep key="end" end={end} onClose={onClose} onAgain={again} />;
  if (join) return <CodeStep key="code" peer={peer} join={join} onClose={onClose} onEnd={finish} />;
  return <PasswordStep key="password" peer={peer} onClose={onClose} onJoin={setJoin} />;
}
