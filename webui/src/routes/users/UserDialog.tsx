// Makes a user, or changes one: name, role, password, lock-out, and whether they may come in at all.
import { useState } from 'preact/hooks';
import * as api from '../../lib/api';
import * as access from '../../lib/api-access';
import { t } from '../../lib/messages';
import { guidance } from '../../lib/password';
import { session, toast } from '../../lib/stores';
import { roles, type Role, type User } from '../../lib/types';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { PasswordField } from '../../ui/PasswordField';
import { Select, TextField } from '../../ui/Field';
import { fieldError, Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { usernamePattern } from '../setup/checks';
import { locked } from './UsersPage';
import css from './users.module.css';

interface UserDialogProps {
  user: User | null;
  onClose: () => void;
  onDone: () => void;
  onChanged: () => void;
}

function NewPassword({ user }: { user: User }) {
  const [password, setPassword] = useState('');
  const action = useAction();
  const save = (): void =>
    void action.run(async () => {
      await access.setUserPassword(user, password);
      setPassword('');
      toast(t('users.password_set', { name: user.username }), { tone: 'ok' });
    });
  return (
    <div class={css.section}>
      <Problem error={action.error} />
      <PasswordField label={t('users.new_password')} value={password} onInput={setPassword} fresh username={user.username} hint={t('users.new_password_hint')} />
      <div class={css.row}>
        <Button busy={action.busy} disabled={guidance(password, user.username).level === 0} onClick={save}>
          {t('users.set_password')}
        </Button>
      </div>
    </div>
  );
}

// The signing key of the cluster goes from one administrator to the next, with the giver's password.
function Joins({ user, onDone }: { user: User; onDone: () => void }) {
  const [password, setPassword] = useState('');
  const action = useAction();
  const key = user.node_key ?? 'none';
  const change = (allow: boolean): void =>
    void action.run(async () => {
      await (allow ? access.allowJoins(user, password) : access.forbidJoins(user));
      setPassword('');
      toast(t(allow ? 'users.joins.allowed' : 'users.joins.forbidden', { name: user.username }), { tone: 'ok' });
      onDone();
    });
  return (
    <div class={css.section}>
      <Problem error={action.error} />
      <p>
        <strong>{t('users.joins')}</strong>
        <br />
        {t(`users.joins.${key}`, { name: user.username })}
      </p>
      {key === 'ready' && <PasswordField label={t('users.joins.password')} value={password} onInput={setPassword} />}
      <div class={css.row}>
        {key === 'ready' && (
          <Button busy={action.busy} disabled={password === ''} onClick={() => change(true)}>
            {t('users.joins.allow')}
          </Button>
        )}
        {key === 'held' && (
          <Button busy={action.busy} onClick={() => change(false)}>
            {t('users.joins.forbid')}
          </Button>
        )}
      </div>
    </div>
  );
}

// Switching somebody off acts at once and can be taken back.
async function setDisabled(user: User, disabled: boolean, onChanged: () => void): Promise<void> {
  const changed = await access.patchUser(user, { disabled });
  onChanged();
  toast(t(disabled ? 'users.now_disabled' : 'users.now_enabled', { name: user.username }), {
    tone: 'ok',
    undo: () => void access.patchUser(changed, { disabled: !disabled }).then(onChanged, (error) => toast(api.errorText(error), { tone: 'error' })),
  });
}

function Access({ user, onDone, onChanged }: { user: User; onDone: () => void; onChanged: () => void }) {
  const action = useAction();
  return (
    <div class={css.section}>
      <Problem error={action.error} />
      <div class={css.row}>
        {locked(user) && (
          <Button
            icon="lock"
            busy={action.busy}
            onClick={() =>
              void action.run(async () => {
                await access.unlockUser(user);
                toast(t('users.unlocked', { name: user.username }), { tone: 'ok' });
                onDone();
              })
            }
          >
            {t('users.unlock')}
          </Button>
        )}
        <Button
          busy={action.busy}
          onClick={() =>
            void action.run(async () => {
              await setDisabled(user, !user.disabled, onChanged);
              onDone();
            })
          }
        >
          {t(user.disabled ? 'users.enable' : 'users.disable')}
        </Button>
      </div>
    </div>
  );
}

export function UserDialog({ user, onClose, onDone, onChanged }: UserDialogProps) {
  const [username, setUsername] = useState('');
  const [displayName, setDisplayName] = useState(user?.display_name ?? '');
  const [role, setRole] = useState<Role>(user?.role ?? 'viewer');
  const [password, setPassword] = useState('');
  const [checked, setChecked] = useState<{ username?: string; password?: string }>({});
  const action = useAction();
  const me = user !== null && user.id === session.value?.user.id;
  const save = (): void => {
    if (!user) {
      const advice = guidance(password, username);
      const wrong = { username: usernamePattern.test(username.trim()) ? undefined : t('user.error.username'), password: advice.level === 0 ? advice.text : undefined };
      setChecked(wrong);
      if (wrong.username || wrong.password) return;
    }
    void action.run(async () => {
      if (user) await access.patchUser(user, { display_name: displayName.trim(), ...(me || role === user.role ? {} : { role }) });
      else await access.createUser({ username: username.trim(), display_name: displayName.trim(), role, password });
      toast(t(user ? 'users.saved' : 'users.created_done', { name: user?.username ?? username.trim() }), { tone: 'ok' });
      onDone();
    });
  };
  return (
    <Dialog
      title={user ? t('users.edit_title', { name: user.username }) : t('users.add')}
      onClose={onClose}
      onSubmit={save}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button type="submit" variant="primary" busy={action.busy}>
            {t(user ? 'action.save' : 'users.create')}
          </Button>
        </>
      }
    >
      <Problem error={action.error} />
      {!user && (
        <TextField label={t('user.username')} value={username} onInput={setUsername} autocomplete="off" hint={t('user.username_hint')} error={checked.username ?? fieldError(action.error, '/username')} autoFocus />
      )}
      <TextField label={t('user.display_name')} value={displayName} onInput={setDisplayName} autocomplete="off" error={fieldError(action.error, '/display_name')} autoFocus={!!user} />
      {me ? (
        <p>{t('users.own_role', { role: t(`role.${role}`) })}</p>
      ) : (
        <Select
          label={t('user.role')}
          value={role}
          onChange={(value) => setRole(value as Role)}
          options={roles.map((name) => ({ value: name, label: t(`role.${name}`) }))}
          hint={t(`role.${role}.text`)}
          error={fieldError(action.error, '/role')}
        />
      )}
      {!user && (
        <PasswordField label={t('users.first_password')} value={password} onInput={setPassword} fresh username={username} error={checked.password ?? fieldError(action.error, '/password')} hint={t('users.first_password_hint')} />
      )}
      {user && !me && <Access user={user} onDone={onDone} onChanged={onChanged} />}
      {user && !me && user.role === 'admin' && !user.disabled && <Joins user={user} onDone={onDone} />}
      {user && !me && <NewPassword user={user} />}
    </Dialog>
  );
}
