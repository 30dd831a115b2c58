// Who may do what. An administrator changes people here; an auditor reads.
import '../../messages/en-access';
import { useState } from 'preact/hooks';
import * as access from '../../lib/api-access';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { isAdmin, place, serverNow, session, toast } from '../../lib/stores';
import type { User } from '../../lib/types';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Confirm } from '../../ui/Dialog';
import { EmptyState } from '../../ui/EmptyState';
import { TextField } from '../../ui/Field';
import { Page } from '../../ui/Page';
import { Problem } from '../../ui/Problem';
import { Table, type Column } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { RoleMatrix } from './RoleMatrix';
import { UserDialog } from './UserDialog';
import css from './users.module.css';

export function locked(user: User): boolean {
  return !!user.locked_until && f.unixSeconds(user.locked_until) * 1000 > serverNow();
}

function State({ user }: { user: User }) {
  if (user.disabled) return <Badge tone="neutral" text={t('users.disabled')} />;
  if (locked(user)) return <Badge tone="warning" text={t('users.locked', { time: f.time(user.locked_until) })} />;
  return <Badge tone="ok" text={t('users.active')} />;
}

function DeleteUser({ user, onDone, onClose }: { user: User; onDone: () => void; onClose: () => void }) {
  const action = useAction();
  return (
    <Confirm
      title={t('users.delete_title', { name: user.username })}
      action={t('users.delete')}
      busy={action.busy}
      onClose={onClose}
      onConfirm={() =>
        void action.run(async () => {
          await access.deleteUser(user);
          toast(t('users.deleted', { name: user.username }), { tone: 'ok' });
          onDone();
        })
      }
    >
      <Problem error={action.error} />
      <p>{t('users.delete_text')}</p>
    </Confirm>
  );
}

function columns(edit: (user: User) => void, remove: (user: User) => void): Column<User>[] {
  const me = session.value?.user.id;
  const list: Column<User>[] = [
    {
      id: 'name',
      title: t('user.username'),
      main: true,
      sort: (u) => u.username,
      cell: (u) => (
        <>
          {u.username} {u.id === me && <span class={css.you}>{t('users.you')}</span>}
          <span class={css.sub}>{u.display_name}</span>
        </>
      ),
    },
    { id: 'role', title: t('user.role'), sort: (u) => u.role, cell: (u) => t(`role.${u.role}`) },
    { id: 'state', title: t('users.state'), sort: (u) => (u.disabled ? 2 : locked(u) ? 1 : 0), cell: (u) => <State user={u} /> },
    {
      id: 'last',
      title: t('users.last_login'),
      nowrap: true,
      sort: (u) => u.last_login_at,
      cell: (u) => (u.last_login_at ? <span title={f.dateTime(u.last_login_at)}>{f.ago(u.last_login_at, serverNow())}</span> : t('users.never')),
    },
    { id: 'created', title: t('users.created'), nowrap: true, sort: (u) => u.created_at, cell: (u) => f.day(u.created_at) },
  ];
  if (isAdmin.value) {
    list.push({
      id: 'actions',
      title: t('table.actions'),
      hideTitle: true,
      cell: (u) => (
        <>
          <Button small aria-label={t('users.edit_who', { name: u.username })} onClick={() => edit(u)}>
            {t('action.edit')}
          </Button>
          {u.id !== me && (
            <Button small variant="quiet" aria-label={t('users.delete_who', { name: u.username })} onClick={() => remove(u)}>
              {t('users.delete')}
            </Button>
          )}
        </>
      ),
    });
  }
  return list;
}

export default function UsersPage() {
  const users = useLoad(() => access.getUsers());
  const query = place.value.query;
  const [editing, setEditing] = useState<User | 'new' | null>(query.get('new') && isAdmin.value ? 'new' : null);
  const [removing, setRemoving] = useState<User | null>(null);
  const q = query.get('q') ?? '';
  const all = users.value?.items ?? [];
  const rows = all.filter((u) => `${u.username} ${u.display_name} ${t(`role.${u.role}`)}`.toLowerCase().includes(q.toLowerCase()));
  const admins = all.filter((u) => u.role === 'admin' && !u.disabled).length;
  const close = (): void => {
    setEditing(null);
    setRemoving(null);
    setQuery({ new: undefined });
  };
  const done = (): void => {
    close();
    users.reload();
  };
  return (
    <Page
      title={t('nav.users')}
      lead={t('users.lead')}
      actions={
        isAdmin.value && (
          <Button variant="primary" icon="plus" onClick={() => setEditing('new')}>
            {t('users.add')}
          </Button>
        )
      }
    >
      {users.error && <Note tone="critical" live>{users.error}</Note>}
      {users.value && admins === 1 && isAdmin.value && <Note tone="warning">{t('users.only_admin')}</Note>}
      <Card flush>
        <div class={css.filter}>
          <TextField type="search" label={t('users.search')} value={q} onInput={(value) => setQuery({ q: value })} search />
        </div>
        {users.value && rows.length === 0 ? (
          <EmptyState icon="users" title={t('users.none_found')} action={<Button onClick={() => setQuery({ q: undefined })}>{t('action.clear_filter')}</Button>} />
        ) : (
          <Table
            caption={t('nav.users')}
            columns={columns(setEditing, setRemoving)}
            rows={rows}
            rowKey={(u) => u.id}
            sortBy={query.get('sort') ?? 'name'}
            onSort={(sort) => setQuery({ sort })}
          />
        )}
      </Card>
      <RoleMatrix />
      {editing && <UserDialog user={editing === 'new' ? null : editing} onClose={close} onDone={done} onChanged={users.reload} />}
      {removing && <DeleteUser user={removing} onClose={close} onDone={done} />}
    </Page>
  );
}
