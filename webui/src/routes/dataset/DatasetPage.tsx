// One data set: what is in it, how it looks, where it lies, who may use it.
import '../../messages/en-data';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as data from '../../lib/api-data';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { navigate, setQuery } from '../../lib/router';
import { datasetsChanged, isAdmin, isWorking, mayUpload, operations, place, session, shownOperations, toast } from '../../lib/stores';
import type { DatasetDetail } from '../../lib/types-data';
import { Badge } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Copy } from '../../ui/Copy';
import { EmptyState } from '../../ui/EmptyState';
import { Select } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { Page } from '../../ui/Page';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { OperationCard } from '../datasets/OperationCard';
import { Access } from './Access';
import { BadRows } from './BadRows';
import { Columns } from './Columns';
import { EditDataset } from './EditDataset';
import { Rows } from './Rows';
import { Shards } from './Shards';
import css from './dataset.module.css';

const tabs = ['columns', 'rows', 'shards', 'errors', 'access'] as const;
type Tab = (typeof tabs)[number];

const mayChange = (set: DatasetDetail): boolean => isAdmin.value || (mayUpload.value && set.owner_id === session.value?.user.id);

function Head({ set, version }: { set: DatasetDetail; version: number }) {
  const told = set.versions.find((one) => one.version === version);
  const newest = version === set.version;
  return (
    <Card>
      <dl class={css.head}>
        <div>
          <dt>{t('dataset.rows')}</dt>
          <dd>{f.number(told?.rows ?? set.rows)}</dd>
        </div>
        <div>
          <dt>{t('dataset.columns')}</dt>
          <dd>{f.number(set.columns)}</dd>
        </div>
        {newest && (
          <div>
            <dt>{t('dataset.bad_rows')}</dt>
            <dd>{f.number(set.bad_rows)}</dd>
          </div>
        )}
        <div>
          <dt>{t('dataset.size')}</dt>
          <dd>{f.bytes(set.stored_bytes)}</dd>
        </div>
        <div>
          <dt>{t('dataset.owner')}</dt>
          <dd translate={false}>{set.owner}</dd>
        </div>
        <div>
          <dt>{t('dataset.created')}</dt>
          <dd>{f.dateTime(told?.created_at ?? set.created_at)}</dd>
        </div>
      </dl>
      {set.versions.length > 1 && (
        <div class={css.version}>
          <Select
            label={t('dataset.version')}
            value={String(version)}
            onChange={(value) => setQuery({ version: Number(value) === set.version ? undefined : value })}
            options={set.versions
              .toSorted((a, b) => b.version - a.version)
              .map((one) => ({ value: String(one.version), label: t(one.version === set.version ? 'dataset.version_newest' : 'dataset.version_old', { version: one.version, when: f.dateTime(one.created_at) }) }))}
          />
        </div>
      )}
      {set.source.file_name && (
        <details class={css.source}>
          <summary>
            {t('dataset.source')} <span translate={false}>{set.source.file_name}</span>, {f.bytes(set.source.bytes)}
          </summary>
          <p class={css.sub}>{t(set.source.kept ? 'dataset.source_kept' : 'dataset.source_gone')}</p>
          <Copy value={set.source.sha256} label={t('upload.sha256')} />
        </details>
      )}
    </Card>
  );
}

function Delete({ set }: { set: DatasetDetail }) {
  const action = useAction(true);
  const remove = (): void =>
    void action.run(async () => {
      await data.binDataset(set.id);
      datasetsChanged.value += 1;
      navigate('/datasets');
      toast(t('dataset.deleted', { name: set.name }), {
        undo: () =>
          void data.restoreDataset(set.id).then(
            () => {
              datasetsChanged.value += 1;
              toast(t('bin.restored', { name: set.name }), { tone: 'ok' });
            },
            (error: unknown) => toast(error instanceof Error ? error.message : t('problem.unknown'), { tone: 'error' }),
          ),
      });
    });
  return (
    <Button icon="bin" busy={action.busy} onClick={remove}>
      {t('dataset.delete')}
    </Button>
  );
}

function Tabs({ now, set }: { now: Tab; set: DatasetDetail }) {
  const link = (tab: Tab): string => {
    const query = new URLSearchParams(place.value.query);
    if (tab === 'columns') query.delete('tab');
    else query.set('tab', tab);
    const text = query.toString();
    return `${place.value.path}${text ? `?${text}` : ''}`;
  };
  const shown = tabs.filter((tab) => (tab !== 'access' || mayChange(set)) && (tab !== 'errors' || set.bad_rows > 0));
  return (
    <nav class={css.tabs} aria-label={t('dataset.parts')}>
      {shown.map((tab) => (
        <a key={tab} href={link(tab)} aria-current={tab === now ? 'page' : undefined}>
          {t(`dataset.tab.${tab}`)}
          {tab === 'errors' && <span class={css.count}>{f.number(set.bad_rows)}</span>}
        </a>
      ))}
    </nav>
  );
}

function Part({ tab, set, etag, version, onChange }: { tab: Tab; set: DatasetDetail; etag: string; version: number; onChange: () => void }) {
  if (tab === 'rows') return <Rows set={set} version={version} />;
  if (tab === 'shards') return <Shards set={set} etag={etag} mayChange={mayChange(set) && !set.binned_at} onChange={onChange} />;
  if (tab === 'errors') return <BadRows set={set} version={version} />;
  if (tab === 'access') {
    return (
      <Access set={set} text={t('access.text', { owner: set.owner })} give={(user) => data.grant(set.id, user)} take={(user) => data.revoke(set.id, user)} onChange={onChange}>
        {isAdmin.value && !set.may_read_rows && <Note tone="info">{t('access.admin')}</Note>}
      </Access>
    );
  }
  return <Columns set={set} version={version} mayChange={mayChange(set)} />;
}

function Detail({ set, etag, reload }: { set: DatasetDetail; etag: string; reload: () => void }) {
  const query = place.value.query;
  const tab = tabs.find((name) => name === query.get('tab')) ?? 'columns';
  const asked = Number(query.get('version')) || set.version;
  const version = set.versions.some((one) => one.version === asked) ? asked : set.version;
  const [editing, setEditing] = useState(false);
  const work = shownOperations.value.filter((one) => one.dataset_id === set.id && one.kind === 'version' && one.state !== 'done');
  return (
    <Page
      title={set.name}
      focusKey={set.id}
      lead={
        <>
          {set.damaged ? <Badge tone="critical" text={t('dataset.damaged')} /> : <Badge tone="ok" text={t('dataset.ready')} />} {set.description}
        </>
      }
      back={<Back />}
      actions={
        !set.binned_at && (
          <>
            {set.may_read_rows && mayUpload.value && !set.damaged && (
              <LinkButton variant="primary" icon="play" href={`/jobs/new?dataset=${encodeURIComponent(set.id)}${query.get('target') ? `&target=${encodeURIComponent(query.get('target')!)}` : ''}`}>
                {t('dataset.train')}
              </LinkButton>
            )}
            {set.may_read_rows && (
              <LinkButton icon="download" href={data.downloadAddress(set.id, version)} download={`${set.name}.csv`}>
                {t('dataset.download')}
              </LinkButton>
            )}
            {mayChange(set) && (
              <Button onClick={() => setEditing(true)}>{t('action.edit')}</Button>
            )}
            {mayChange(set) && <Delete set={set} />}
          </>
        )
      }
    >
      {set.binned_at && (
        <Note tone="warning">
          {t('dataset.in_bin', { until: f.day(set.purge_at) })} <a href="/datasets?bin=1">{t('bin.title')}</a>
        </Note>
      )}
      {set.damaged && <Note tone="critical">{t('dataset.damaged_text')}</Note>}
      {set.notes.map((note) => (
        <Note key={note} tone="info">
          {note}
        </Note>
      ))}
      {version !== set.version && (
        <Note tone="info">
          {t('dataset.old_version', { version, newest: set.version })} <a href={place.value.path}>{t('dataset.to_newest')}</a>
        </Note>
      )}
      {work.length > 0 && (
        <Card title={t('dataset.new_version')}>
          {work.map((one) => (
            <OperationCard key={one.id} one={one} plain />
          ))}
        </Card>
      )}
      <Head set={set} version={version} />
      <Tabs now={tab} set={set} />
      <Part tab={tab} set={set} etag={etag} version={version} onChange={reload} />
      {editing && <EditDataset set={set} etag={etag} onClose={() => setEditing(false)} onDone={reload} />}
    </Page>
  );
}

function Back() {
  return (
    <a class={css.back} href="/datasets">
      <Icon name="back" size={16} />
      {t('nav.datasets')}
    </a>
  );
}

export default function DatasetPage({ id = '' }: { id?: string }) {
  const loaded = useLoad(() => data.getDataset(id), [id, datasetsChanged.value]);
  // A finished operation means a new version, also where no event said so.
  const busy = [...operations.value.values()].some((one) => one.dataset_id === id && isWorking(one));
  const was = useRef(busy);
  useEffect(() => {
    if (was.current && !busy) loaded.reload();
    was.current = busy;
  }, [busy]);
  const found = loaded.value;
  if (found?.value.id === id) return <Detail set={found.value} etag={found.etag} reload={loaded.reload} />;
  return (
    <Page title={t('dataset.title')} back={<Back />}>
      {loaded.error && <EmptyState icon="disk" title={t('dataset.unknown')}>{loaded.error}</EmptyState>}
    </Page>
  );
}
