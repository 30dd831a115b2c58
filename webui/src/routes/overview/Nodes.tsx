// The nodes in few words: how many are up, what may fail, and how full each one is.
import '../../messages/en-overview';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { Strength } from '../../lib/quorum';
import { nodes } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import { Badge } from '../../ui/Badge';
import { LinkButton } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Meter } from '../../ui/Meter';
import { compare } from '../../ui/Table';
import css from './OverviewPage.module.css';

export function strengthText({ total, up, mayFail, minority }: Strength): string {
  const told = t('overview.nodes_up', { count: total, up: f.number(up), total: f.number(total) });
  if (total < 2) return told;
  if (minority) return t('overview.minority', { nodes: told });
  return mayFail > 0 ? t('overview.may_fail', { nodes: told, count: mayFail }) : t('overview.none_may_fail', { nodes: told });
}

const tones = { up: 'ok', unreachable: 'critical', draining: 'warning', removed: 'neutral' } as const;

function Disk({ node }: { node: BoxNode }) {
  const disk = node.disk;
  if (!disk || disk.total <= 0) return null;
  return (
    <>
      <Meter fraction={1 - disk.free / disk.total} label={t('overview.disk_of', { name: node.name })} />
      <small>{t('overview.free', { free: f.bytes(disk.free) })}</small>
    </>
  );
}

export function NodesCard() {
  const list = [...nodes.value.values()].filter((node) => node.state !== 'removed').sort((a, b) => compare(a.name, b.name));
  if (list.length < 2) return null;
  return (
    <Card
      title={t('overview.nodes')}
      actions={
        <LinkButton small variant="quiet" href="/nodes">
          {t('overview.all_nodes')}
        </LinkButton>
      }
    >
      <ul class={css.running}>
        {list.map((node) => (
          <li key={node.id}>
            <a href={`/nodes/${encodeURIComponent(node.id)}`} translate={false}>
              {node.name}
            </a>
            <Badge tone={tones[node.state] ?? 'neutral'} text={t(`node.state.${node.state}`)} />
            <Disk node={node} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
