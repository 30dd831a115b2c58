// The rights of each role for what exists on this box, in words.
import '../../messages/en-access';
import { t } from '../../lib/messages';
import { roles, type Role } from '../../lib/types';
import { Card } from '../../ui/Card';
import { Table, type Column } from '../../ui/Table';
import css from './users.module.css';

type Right = 'all' | 'read' | 'own' | 'export' | 'none' | 'data_admin' | 'data_own' | 'data_shared' | 'data_list' | 'data_service';
const rights: { id: 'users' | 'nodes' | 'settings' | 'audit' | 'tokens' | 'data'; by: Record<Role, Right> }[] = [
  { id: 'nodes', by: { admin: 'all', analyst: 'read', viewer: 'read', auditor: 'read', service: 'none' } },
  { id: 'data', by: { admin: 'data_admin', analyst: 'data_own', viewer: 'data_shared', auditor: 'data_list', service: 'data_service' } },
  { id: 'users', by: { admin: 'all', analyst: 'own', viewer: 'own', auditor: 'read', service: 'none' } },
  { id: 'tokens', by: { admin: 'all', analyst: 'own', viewer: 'own', auditor: 'own', service: 'own' } },
  { id: 'audit', by: { admin: 'read', analyst: 'own', viewer: 'none', auditor: 'export', service: 'none' } },
  { id: 'settings', by: { admin: 'all', analyst: 'none', viewer: 'none', auditor: 'read', service: 'none' } },
];

const columns: Column<(typeof rights)[number]>[] = [
  { id: 'what', title: t('roles.what'), main: true, cell: (row) => t(`roles.${row.id}`) },
  ...roles.map((role) => ({ id: role, title: t(`role.${role}`), cell: (row: (typeof rights)[number]) => t(`right.${row.by[role]}`) })),
];

export function RoleMatrix() {
  return (
    <Card>
      <details class={css.matrix}>
        <summary>{t('roles.title')}</summary>
        <div>
          <Table caption={t('roles.title')} columns={columns} rows={rights} rowKey={(row) => row.id} />
        </div>
      </details>
    </Card>
  );
}
