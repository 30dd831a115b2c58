// Through which sockets this node speaks, and what came back.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { NetInterface } from '../../lib/types-cluster';
import { Badge } from '../../ui/Badge';
import { Table, type Column } from '../../ui/Table';
import css from './doctor.module.css';

const count = (id: 'sent' | 'heard' | 'bad', title: string): Column<NetInterface> => ({ id, title, numeric: true, sort: (one) => one[id], cell: (one) => f.number(one[id]) });

export function Interfaces({ list }: { list: readonly NetInterface[] }) {
  const columns: Column<NetInterface>[] = [
    { id: 'name', title: t('doctor.name'), main: true, sort: (one) => one.name, cell: (one) => <code>{one.name}</code> },
    { id: 'addresses', title: t('doctor.addresses'), cell: (one) => f.join(one.addresses ?? []) || '–' },
    {
      id: 'used',
      title: t('doctor.used'),
      sort: (one) => (one.used ? 0 : 1),
      cell: (one) => (
        <>
          <Badge tone={one.trouble ? 'warning' : one.used ? 'ok' : 'neutral'} text={t(one.used ? 'doctor.used_yes' : 'doctor.used_no')} />
          {(one.trouble || one.why_not) && <span class={css.sub}>{one.trouble || one.why_not}</span>}
        </>
      ),
    },
    { id: 'mtu', title: t('doctor.mtu'), numeric: true, sort: (one) => one.mtu, cell: (one) => (one.mtu ? f.number(one.mtu) : '–') },
    count('sent', t('doctor.sent')),
    count('heard', t('doctor.heard')),
    { id: 'own', title: t('doctor.own'), numeric: true, sort: (one) => one.heard_own, cell: (one) => f.number(one.heard_own) },
    count('bad', t('doctor.bad')),
  ];
  return <Table caption={t('doctor.interfaces')} columns={columns} rows={list} rowKey={(one) => one.name} sortBy="used" dense />;
}
