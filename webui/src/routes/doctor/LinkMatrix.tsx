// Who reaches whom, how fast: a row per node, a column per node. On a phone each row becomes a list.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { getLinks, testLink } from '../../lib/api-cluster';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { linksChanged, nodes, serverNow } from '../../lib/stores';
import type { BoxNode } from '../../lib/types';
import type { Link } from '../../lib/types-cluster';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { compare, Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { matrix, type MatrixRow } from './matrix';
import css from './doctor.module.css';

const bits = (bytes: number | null): string => f.bitsPerSecond(bytes === null ? null : bytes * 8);

function Cell({ link, test }: { link: Link | undefined; test?: ComponentChildren }) {
  if (!link) return <span class={css.sub}>{t('links.unknown')}</span>;
  return (
    <span class={css.link}>
      <span>
        {/* Nothing went wrong where nothing was tried: connections are made when there is something to say. */}
        <Badge tone={link.up ? 'ok' : link.trouble ? 'critical' : 'neutral'} text={t(link.up ? 'links.up' : link.trouble ? 'links.down' : 'links.idle')} />{' '}
        {link.up && link.rtt_ms !== null && <span>{t('links.rtt', { ms: f.number(link.rtt_ms, link.rtt_ms < 10 ? 1 : 0) })}</span>}
      </span>
      {link.up && (
        <span class={css.sub}>
          {t('links.out', { rate: bits(link.send_bytes_per_second) })}
          <br />
          {t('links.in', { rate: bits(link.receive_bytes_per_second) })}
        </span>
      )}
      {!link.up && link.trouble && <span class={css.sub}>{link.trouble}</span>}
      {link.measured_bytes_per_second !== null && <span class={css.sub}>{t('links.measured', { rate: bits(link.measured_bytes_per_second), when: f.ago(link.measured_at, serverNow()) })}</span>}
      {link.up && test}
    </span>
  );
}

function Test({ to, onDone }: { to: BoxNode; onDone: (link: Link) => void }) {
  const action = useAction(true);
  return (
    <Button small busy={action.busy} aria-label={t('links.test_what', { name: to.name })} onClick={() => void action.run(async () => onDone(await testLink(to.id)))}>
      {t('links.test')}
    </Button>
  );
}

export function LinkMatrix() {
  const loaded = useLoad(getLinks, [linksChanged.value]);
  const [measured, setMeasured] = useState<ReadonlyMap<string, Link>>(new Map());
  const list = [...nodes.value.values()].sort((a, b) => compare(a.name, b.name));
  const told = loaded.value?.links ?? [];
  // The answer of a test is newer than the list.
  const rows = matrix(list, told.map((link) => measured.get(`${link.from} ${link.to}`) ?? link));
  const columns: Column<MatrixRow>[] = [
    { id: 'from', title: t('links.from'), main: true, cell: ({ node }) => <span translate={false}>{node.name}</span> },
    ...rows.map(
      ({ node: to }): Column<MatrixRow> => ({
        id: to.id,
        title: to.name,
        named: true,
        cell: ({ node: from, to: links }) =>
          from.id === to.id ? (
            <span class={css.sub}>{t('links.self')}</span>
          ) : (
            <Cell
              link={links.get(to.id)}
              test={from.self && <Test to={to} onDone={(link) => setMeasured((now) => new Map(now).set(`${link.from} ${link.to}`, link))} />}
            />
          ),
      }),
    ),
  ];
  return (
    <Card flush={rows.length > 1} title={t('links.title')}>
      {rows.length < 2 ? (
        <p class={css.sub}>{t('links.none')}</p>
      ) : (
        <>
          <div class={css.text}>
            {loaded.error && (
              <Note tone="critical" live>
                {loaded.error}
              </Note>
            )}
            <p class={css.sub}>{t('links.text')}</p>
          </div>
          <Table caption={t('links.title')} columns={columns} rows={rows} rowKey={({ node }) => node.id} faded={({ node }) => node.state === 'unreachable'} dense />
        </>
      )}
    </Card>
  );
}
