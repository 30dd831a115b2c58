// Log-in over the page when the session ended, and the password again before something delicate.
// The page behind stays as it was, with everything typed into it.
import '../messages/en-dialogs';
import { useState } from 'preact/hooks';
import { decline, login, reauthenticate } from '../lib/auth';
import { ApiError, errorText } from '../lib/api';
import { t } from '../lib/messages';
import { session } from '../lib/stores';
import { Button } from './Button';
import { Note } from './Card';
import { Dialog } from './Dialog';
import { TextField } from './Field';
import { PasswordField } from './PasswordField';
import { useCountdown } from './useCountdown';
import { countdown } from '../lib/format';

export default function PasswordDialog({ kind }: { kind: 'login' | 'reauth' }) {
  const [username, setUsername] = useState(session.value?.user.username ?? '');
  const [password, setPassword] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const [wait, startWait] = useCountdown();
  const submit = async (): Promise<void> => {
    if (busy || wait > 0) return;
    setBusy(true);
    setError('');
    try {
      await (kind === 'login' ? login(username, password) : reauthenticate(password));
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 429) startWait(problem.retryAfter || 30);
      setError(errorText(problem));
      setPassword('');
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={t(kind === 'login' ? 'relogin.title' : 'reauth.title')}
      onClose={decline}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={decline}>{t(kind === 'login' ? 'relogin.leave' : 'action.cancel')}</Button>
          <Button type="submit" variant="primary" busy={busy} disabled={wait > 0}>
            {wait > 0 ? t('login.wait', { time: countdown(wait) }) : t(kind === 'login' ? 'login.submit' : 'reauth.submit')}
          </Button>
        </>
      }
    >
      <p>{t(kind === 'login' ? 'relogin.text' : 'reauth.text')}</p>
      {error && (
        <Note tone="critical" live>
          {error}
        </Note>
      )}
      {kind === 'login' && <TextField label={t('login.username')} name="username" autocomplete="username" value={username} onInput={setUsername} />}
      <PasswordField label={t('login.password')} name="password" value={password} onInput={setPassword} autoFocus />
    </Dialog>
  );
}
