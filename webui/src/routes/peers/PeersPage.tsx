// Adding a node: who is heard on the network, who may join, who shall not.
import '../../messages/en-peers';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as cluster from '../../lib/api-cluster';
import * as f from '../../lib/format';
import { t, tMaybe } from '../../lib/messages';
import { isAdmin, peersChanged, serverNow, toast } from '../../lib/stores';
import type { Peer, PeerState, Peers } from '../../lib/types-cluster';
import { Badge, type Tone } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Icon } from '../../ui/Icon';
import { Page } from '../../ui/Page';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { AddByAddress } from './AddByAddress';
import { ApproveDialog } from './ApproveDialog';
import { InviteDialog } from './InviteDialog';
import { freshIn } from './fresh';
import css from './peers.module.css';

const tones: Record<PeerState, Tone> = {
  waiting: 'info',
  joining: 'info',
  code_needed: 'warning',
  blocked: 'neutral',
  other_cluster: 'neutral',
  duplicate_id: 'critical',
  member_elsewhere: 'neutral',
};
// Boxes say so every three seconds while they wait.
const quietSeconds = 20;

function State({ peer }: { peer: Peer }) {
  const quiet = serverNow() / 1000 - f.unixSeconds(peer.last_seen) > quietSeconds;
  return (
    <>
      <Badge tone={tones[peer.state] ?? 'neutral'} text={tMaybe(`peer.${peer.state}`, peer.state)} />
      {peer.detail && <span class={css.sub}>{peer.detail}</span>}
      {quiet && <span class={css.sub}>{t('peers.quiet', { when: f.ago(peer.last_seen, serverNow()) })}</span>}
    </>
  );
}

interface ListProps {
  rows: readonly Peer[];
  onApprove: (peer: Peer) => void;
  onLater: (peer: Peer) => void;
  onBlock: (peer: Peer) => void;
}

function List({ rows, onApprove, onLater, onBlock }: ListProps) {
  const columns: Column<Peer>[] = [
    {
      id: 'box',
      title: t('peers.box'),
      main: true,
      sort: (peer) => peer.short_id,
      cell: (peer) => (
        <span translate={false}>
          <code class={css.short}>{peer.short_id}</code>
          {peer.hostname && <span class={css.sub}>{peer.hostname}</span>}
        </span>
      ),
    },
    { id: 'state', title: t('peers.state'), sort: (peer) => peer.state, cell: (peer) => <State peer={peer} /> },
    {
      id: 'model',
      title: t('peers.model'),
      sort: (peer) => peer.model,
      cell: (peer) => (
        <>
          {peer.model || '–'}
          {peer.version && <span class={css.sub}>{t('frame.version', { version: peer.version })}</span>}
        </>
      ),
    },
    {
      id: 'address',
      title: t('peers.address'),
      sort: (peer) => peer.address,
      cell: (peer) => (
        <>
          {peer.address}
          <span class={css.sub}>{peer.multicast && peer.interface ? t('peers.on', { interface: peer.interface }) : t('peers.by_address')}</span>
        </>
      ),
    },
    { id: 'seen', title: t('peers.seen'), sort: (peer) => f.unixSeconds(peer.first_seen), cell: (peer) => f.ago(peer.first_seen, serverNow()) },
    {
      id: 'actions',
      title: t('table.actions'),
      hideTitle: true,
      cell: (peer) =>
        (peer.state === 'waiting' || peer.state === 'code_needed') && (
          <>
            {peer.state === 'code_needed' ? (
              <Button small variant="primary" aria-label={t('peers.enter_code_what', { id: peer.short_id })} onClick={() => onApprove(peer)}>
                {t('peers.enter_code')}
              </Button>
            ) : (
              <Button small variant="primary" aria-label={t('peers.approve_what', { id: peer.short_id })} onClick={() => onApprove(peer)}>
                {t('peers.approve')}
              </Button>
            )}
            <Button small aria-label={t('peers.later_what', { id: peer.short_id })} onClick={() => onLater(peer)}>
              {t('peers.later')}
            </Button>
            <Button small aria-label={t('peers.block_what', { id: peer.short_id })} onClick={() => onBlock(peer)}>
              {t('peers.block')}
            </Button>
          </>
        ),
    },
  ];
  return <Table caption={t('peers.heard')} columns={columns} rows={rows} rowKey={(peer) => peer.id} sortBy="seen" dense />;
}

function Nobody() {
  return (
    <div class={css.nobody}>
      <EmptyState icon="nodes" title={t('peers.none')}>
        {t('peers.none_text')}
      </EmptyState>
      <ol class={css.steps}>
        <li>{t('peers.how_plug')}</li>
        <li>
          {t('peers.how_install')} <code>sudo apt install ./samovar_*.deb</code>
        </li>
        <li>{t('peers.how_power')}</li>
      </ol>
      <p class={css.hint}>{t('peers.not_seen')}</p>
    </div>
  );
}

function Blocked({ ids, onUnblock }: { ids: readonly string[]; onUnblock: (id: string) => void }) {
  if (ids.length === 0) return null;
  return (
    <Card title={t('peers.blocked')}>
      <p class={css.hint}>{t('peers.blocked_text')}</p>
      <ul class={css.blocked}>
        {ids.map((id) => (
          <li key={id}>
            <code>{id}</code>
            <Button small aria-label={t('peers.unblock_what', { id })} onClick={() => onUnblock(id)}>
              {t('peers.unblock')}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

// Says politely what came into the list, to those who do not look at it.
function useAnnouncement(peers: Peers | null): string {
  const known = useRef<ReadonlySet<string> | null>(null);
  const [text, setText] = useState('');
  useEffect(() => {
    if (!peers) return;
    const fresh = freshIn(known.current, peers.items);
    known.current = new Set(peers.items.map((peer) => peer.id));
    if (fresh) setText(t('peers.new_heard', { id: fresh.short_id, name: fresh.hostname || fresh.model }));
  }, [peers]);
  return text;
}

function Adding() {
  const loaded = useLoad(cluster.getPeers, [peersChanged.value]);
  const [later, setLater] = useState<ReadonlySet<string>>(new Set());
  const [approving, setApproving] = useState<Peer | null>(null);
  const [inviting, setInviting] = useState(false);
  const action = useAction(true);
  const announcement = useAnnouncement(loaded.value);
  const all = (loaded.value?.items ?? []).filter((peer) => peer.state !== 'blocked');
  const shown = all.filter((peer) => !later.has(peer.id));
  const putOff = (peer: Peer): void => {
    setLater(new Set([...later, peer.id]));
    toast(t('peers.later_done', { id: peer.short_id }), { undo: () => setLater((now) => new Set([...now].filter((id) => id !== peer.id))) });
  };
  const setBlocked = (id: string, on: boolean, name = id): void =>
    void action.run(async () => {
      await (on ? cluster.blockPeer(id) : cluster.unblockPeer(id));
      peersChanged.value += 1;
      if (on) toast(t('peers.block_done', { id: name }), { undo: () => setBlocked(id, false) });
    });
  return (
    <>
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
      {loaded.error && (
        <Note tone="critical" live>
          {loaded.error}
        </Note>
      )}
      <Card
        flush
        title={t('peers.heard')}
        actions={
          all.length > shown.length && (
            <Button small variant="quiet" onClick={() => setLater(new Set())}>
              {t('peers.later_show', { count: all.length - shown.length })}
            </Button>
          )
        }
      >
        {loaded.value === null ? <p class={css.listening}>{t('peers.reading')}</p> : shown.length === 0 ? <Nobody /> : <List rows={shown} onApprove={setApproving} onLater={putOff} onBlock={(peer) => setBlocked(peer.id, true, peer.short_id)} />}
      </Card>
      <div class={css.halves}>
        <AddByAddress />
        <Card title={t('invite.title')}>
          <p class={css.hint}>{t('invite.text')}</p>
          <Button icon="key" onClick={() => setInviting(true)}>
            {t('invite.submit')}
          </Button>
        </Card>
      </div>
      <Blocked ids={loaded.value?.blocked ?? []} onUnblock={(id) => setBlocked(id, false)} />
      {approving && <ApproveDialog peer={approving} onClose={() => setApproving(null)} />}
      {inviting && <InviteDialog onClose={() => setInviting(false)} />}
    </>
  );
}

export default function PeersPage() {
  return (
    <Page
      title={t('peers.title')}
      lead={t('peers.lead')}
      back={
        <a class={css.back} href="/nodes">
          <Icon name="back" size={16} />
          {t('nav.nodes')}
        </a>
      }
      actions={
        isAdmin.value && (
          <LinkButton icon="shield" href="/doctor">
            {t('peers.doctor')}
          </LinkButton>
        )
      }
    >
      {isAdmin.value ? <Adding /> : <Note tone="info">{t('peers.admin_only')}</Note>}
    </Page>
  );
}
