// Log-in. The address one wanted is kept in the address bar, so it opens right after.
import { useRef, useState } from 'preact/hooks';
import { ApiError, errorText } from '../../lib/api';
import { endReason, login } from '../../lib/auth';
import { ago, countdown } from '../../lib/format';
import { t } from '../../lib/messages';
import { serverNow, session, setup, toast } from '../../lib/stores';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { TextField } from '../../ui/Field';
import { Gate } from '../../ui/Gate';
import { PasswordField } from '../../ui/PasswordField';
import { useCountdown } from '../../ui/useCountdown';
import { takeFreshAdmin } from '../setup/draft';
import css from './LoginPage.module.css';

function greet(): void {
  const last = session.value?.last_login;
  toast(last ? t('login.last', { when: ago(last.at, serverNow()), address: last.address }) : t('login.first'));
}

export default function LoginPage() {
  const fresh = useRef(takeFreshAdmin());
  const [username, setUsername] = useState(fresh.current ?? '');
  const [password, setPassword] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const [wait, startWait] = useCountdown();
  const form = useRef<HTMLFormElement>(null);
  const reason = endReason();
  const banner = setup.value?.login_banner;

  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy || wait > 0) return;
    setBusy(true);
    setError('');
    try {
      await login(username.trim(), password);
      greet();
    } catch (problem) {
      if (problem instanceof ApiError && problem.status === 429) startWait(problem.retryAfter || 30);
      setError(errorText(problem));
      setPassword('');
      setBusy(false);
      form.current?.querySelector<HTMLInputElement>('input[name=password]')?.focus();
    }
  };

  return (
    <Gate title={t('login.title')}>
      {banner && <p class={css.banner}>{banner}</p>}
      {fresh.current && <Note tone="ok">{t('login.fresh')}</Note>}
      {!error && reason && <Note tone="info">{t(`login.${reason}`)}</Note>}
      {error && (
        <Note tone="critical" live>
          {error}
        </Note>
      )}
      <form ref={form} class={css.form} novalidate onSubmit={(event) => void submit(event)}>
        <TextField label={t('login.username')} name="username" autocomplete="username" value={username} onInput={setUsername} />
        <PasswordField label={t('login.password')} name="password" value={password} onInput={setPassword} />
        <Button type="submit" variant="primary" busy={busy} disabled={wait > 0}>
          {wait > 0 ? t('login.wait', { time: countdown(wait) }) : t('login.submit')}
        </Button>
      </form>
    </Gate>
  );
}
