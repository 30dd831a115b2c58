// One node: live charts with a shared cursor, any range from five minutes to thirty days, and its facts.
import '../../messages/en-nodes';
import * as api from '../../lib/api';
import { t } from '../../lib/messages';
import { nodes } from '../../lib/stores';
import { EmptyState } from '../../ui/EmptyState';
import { Icon } from '../../ui/Icon';
import { Lazy } from '../../ui/Lazy';
import { Page } from '../../ui/Page';
import { useLoad } from '../../ui/useLoad';
import { Charts } from './Charts';
import { NodeState } from './NodeState';
import css from './nodes.module.css';

// Beneath the charts: it may come a moment after them.
const facts = () => import('./Facts');

export default function NodePage({ id = '' }: { id?: string }) {
  const known = nodes.value.get(id);
  const fetched = useLoad(() => (nodes.peek().has(id) ? Promise.resolve(null) : api.getNode(id)), [id]);
  const node = known ?? fetched.value;
  const back = (
    <a class={css.back} href="/nodes">
      <Icon name="back" size={16} />
      {t('nav.nodes')}
    </a>
  );
  if (!node) {
    return (
      <Page title={t('node.title')} back={back}>
        {fetched.error && <EmptyState icon="nodes" title={t('node.unknown')}>{fetched.error}</EmptyState>}
      </Page>
    );
  }
  return (
    <Page
      title={node.name}
      back={back}
      lead={
        <>
          <NodeState node={node} /> {node.model}
        </>
      }
    >
      <Charts nodes={[node]} />
      <Lazy load={facts} props={{ node }} />
    </Page>
  );
}
