// Who may use a data set or a model beside its owner. Granting asks for the password again: it shows something to
// somebody.
import '../../messages/en-data';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { getUsers } from '../../lib/api-access';
import { t } from '../../lib/messages';
import { isAdmin, toast } from '../../lib/stores';
import { Button } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Select, TextField } from '../../ui/Field';
import { Problem } from '../../ui/Problem';
import { Table } from '../../ui/Table';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import css from './dataset.module.css';

interface Shared {
  owner_id: string;
  granted: readonly { user_id: string; username: string }[];
}

// Only administrators and auditors may list people; an owner types the name.
function Choose({ set, value, onChange }: { set: Shared; value: string; onChange: (value: string) => void }) {
  const users = useLoad(() => (isAdmin.value ? getUsers() : Promise.resolve(null)));
  if (!isAdmin.value) return <TextField label={t('user.username')} value={value} onInput={onChange} />;
  const taken = new Set([set.owner_id, ...set.granted.map((one) => one.user_id)]);
  const free = (users.value?.items ?? []).filter((user) => !taken.has(user.id) && !user.disabled);
  return (
    <Select
      label={t('access.person')}
      value={value}
      onChange={onChange}
      options={[{ value: '', label: t('access.choose') }, ...free.map((user) => ({ value: user.id, label: user.display_name ? `${user.display_name} (${user.username})` : user.username }))]}
    />
  );
}

interface AccessProps {
  set: Shared;
  text: string;
  give: (user: string) => Promise<void>;
  take: (user: string) => Promise<void>;
  onChange: () => void;
  children?: ComponentChildren;
}

export function Access({ set, text, onChange, children, ...calls }: AccessProps) {
  const [who, setWho] = useState('');
  const action = useAction();
  const give = (event: Event): void => {
    event.preventDefault();
    if (!who.trim()) return;
    void action.run(async () => {
      await calls.give(who.trim());
      setWho('');
      onChange();
    });
  };
  const take = (user: string, name: string): void =>
    void action.run(async () => {
      await calls.take(user);
      toast(t('access.taken', { name }), { tone: 'ok' });
      onChange();
    });
  return (
    <Card flush title={t('access.title')}>
      <div class={css.text}>
        <p class={css.sub}>{text}</p>
        <Problem error={action.error} />
        <form class={css.grant} novalidate onSubmit={give}>
          <Choose set={set} value={who} onChange={setWho} />
          <Button type="submit" busy={action.busy} disabled={!who.trim()}>
            {t('access.give')}
          </Button>
        </form>
        {children}
      </div>
      {set.granted.length === 0 ? (
        <EmptyState icon="users" title={t('access.nobody')} />
      ) : (
        <Table
          caption={t('access.title')}
          rows={set.granted}
          rowKey={(one) => one.user_id}
          columns={[
            { id: 'name', title: t('user.username'), main: true, sort: (one) => one.username, cell: (one) => <span translate={false}>{one.username}</span> },
            {
              id: 'actions',
              title: t('table.actions'),
              hideTitle: true,
              cell: (one) => (
                <Button small variant="quiet" aria-label={t('access.take_from', { name: one.username })} onClick={() => take(one.user_id, one.username)}>
                  {t('access.take')}
                </Button>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}
