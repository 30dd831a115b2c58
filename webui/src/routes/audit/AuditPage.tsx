// The audit log: who did what, from where, with which result. Read-only; new entries wait behind a button so that
// the rows somebody reads do not move.
import '../../messages/en-access';
import { useEffect, useState } from 'preact/hooks';
import * as api from '../../lib/api';
import * as access from '../../lib/api-access';
import { download } from '../../lib/download';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { auditHead, mayCheckAudit, mayExportAudit, place, toast, tracked } from '../../lib/stores';
import type { AuditEntry } from '../../lib/types';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Page } from '../../ui/Page';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { Filters } from './Filters';
import { Verify } from './Verify';
import css from './audit.module.css';

function Details({ entry }: { entry: AuditEntry }) {
  const text = typeof entry.details === 'string' ? entry.details : JSON.stringify(entry.details ?? {}, null, 2);
  return (
    <dl class={css.details}>
      <div>
        <dt>{t('audit.seq')}</dt>
        <dd>{entry.seq}</dd>
      </div>
      <div>
        <dt>{t('audit.auth')}</dt>
        <dd>{f.join([entry.auth, entry.role])}</dd>
      </div>
      <div>
        <dt>{t('audit.hash')}</dt>
        <dd>
          <code>{entry.hash}</code>
        </dd>
      </div>
      {text !== '{}' && (
        <div>
          <dt>{t('audit.details')}</dt>
          <dd>
            <pre>{text}</pre>
          </dd>
        </div>
      )}
    </dl>
  );
}

const good = (result: string): boolean => result === 'ok' || result === 'success';

const columns: Column<AuditEntry>[] = [
  { id: 'time', title: t('audit.time'), nowrap: true, cell: (e) => <time dateTime={e.time}>{f.dateTimeExact(e.time)}</time> },
  { id: 'actor', title: t('audit.actor'), cell: (e) => e.actor || '–' },
  { id: 'action', title: t('audit.action'), main: true, cell: (e) => <code>{e.action}</code> },
  { id: 'object', title: t('audit.object'), cell: (e) => <span class={css.object}>{e.object || '–'}</span> },
  { id: 'address', title: t('audit.address'), cell: (e) => e.address || '–' },
  { id: 'result', title: t('audit.result'), cell: (e) => <Badge plain tone={good(e.result) ? 'ok' : 'warning'} text={good(e.result) ? t('audit.ok') : e.result} /> },
];

const expand = {
  title: t('audit.details'),
  label: (e: AuditEntry) => t('audit.details_of', { seq: e.seq }),
  content: (e: AuditEntry) => <Details entry={e} />,
};

function useEntries(filter: access.AuditFilter) {
  const [items, setItems] = useState<AuditEntry[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const action = useAction();
  const key = JSON.stringify(filter);
  const load = (after?: string): void =>
    void action.run(async () => {
      const page = await access.getAudit(filter, after);
      setItems((old) => (after ? [...(old ?? []), ...page.items] : page.items));
      setCursor(page.next_cursor);
    });
  useEffect(() => load(), [key]);
  return { items, cursor, load, error: action.error, busy: action.busy };
}

export default function AuditPage() {
  const query = place.value.query;
  const get = (name: string): string | undefined => query.get(name) ?? undefined;
  const filter: access.AuditFilter = { actor: get('actor'), action: get('action'), q: get('q'), from: get('from'), to: get('to') };
  const filtered = Object.values(filter).some(Boolean);
  const entries = useEntries(filter);
  const exporting = useAction(true);
  const newest = entries.items?.[0]?.seq ?? 0;
  const fresh = !filtered && entries.items ? Math.max(0, auditHead.value - newest) : 0;
  const save = (): void =>
    void exporting.run(async () => {
      const blob = await tracked(t('audit.exporting'), () => access.exportAudit(filter));
      const name = `samovar-audit-${new Date().toISOString().slice(0, 10)}.ndjson`;
      download(name, blob);
      toast(t('range.csv_done', { name }), { tone: 'ok' });
    });
  return (
    <Page
      title={t('nav.audit')}
      lead={t('audit.lead')}
      actions={
        mayCheckAudit.value && (
          <>
            <Verify />
            {mayExportAudit.value && (
              <Button icon="download" busy={exporting.busy} onClick={save}>
                {t('audit.export')}
              </Button>
            )}
          </>
        )
      }
    >
      <Filters filter={filter} />
      {entries.error !== null && <Note tone="critical" live>{api.errorText(entries.error)}</Note>}
      <div class={css.fresh} role="status">
        {fresh > 0 && (
          <Button small icon="refresh" onClick={() => entries.load()}>
            {t('audit.new', { count: fresh })}
          </Button>
        )}
      </div>
      <Card flush>
        {entries.items?.length === 0 ? (
          <EmptyState icon="audit" title={t('audit.none')}>
            {filtered && t('audit.none_text')}
          </EmptyState>
        ) : (
          <Table caption={t('nav.audit')} columns={columns} rows={entries.items ?? []} rowKey={(e) => e.seq} expand={expand} />
        )}
        {entries.cursor && (
          <div class={css.more}>
            <Button busy={entries.busy} onClick={() => entries.load(entries.cursor ?? undefined)}>
              {t('audit.more')}
            </Button>
          </div>
        )}
      </Card>
    </Page>
  );
}
