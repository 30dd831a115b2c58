// The box restarted and waits for its passphrase. Until then its data cannot be read, not even by itself.
import { useState } from 'preact/hooks';
import * as api from '../../lib/api';
import { readPhase } from '../../lib/boot';
import { countdown } from '../../lib/format';
import { t } from '../../lib/messages';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Gate } from '../../ui/Gate';
import { PasswordField } from '../../ui/PasswordField';
import { useCountdown } from '../../ui/useCountdown';
import css from '../login/LoginPage.module.css';

export default function LockedPage() {
  const [passphrase, setPassphrase] = useState('');
  const [error, setError] = useState('');
  const [busy, setBusy] = useState(false);
  const [wait, startWait] = useCountdown();
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy || wait > 0) return;
    setBusy(true);
    setError('');
    try {
      await api.unlock(passphrase);
      await readPhase();
    } catch (problem) {
      if (problem instanceof api.ApiError && problem.status === 429) startWait(problem.retryAfter || 30);
      setError(api.errorText(problem));
    }
    setPassphrase('');
    setBusy(false);
  };
  return (
    <Gate title={t('locked.title')} lead={t('locked.lead')}>
      {error && (
        <Note tone="critical" live>
          {error}
        </Note>
      )}
      <form class={css.form} novalidate onSubmit={(event) => void submit(event)}>
        <PasswordField label={t('locked.passphrase')} name="passphrase" value={passphrase} onInput={setPassphrase} hint={t('locked.hint')} />
        <Button type="submit" variant="primary" icon="lock" busy={busy} disabled={wait > 0}>
          {wait > 0 ? t('login.wait', { time: countdown(wait) }) : t('locked.submit')}
        </Button>
      </form>
    </Gate>
  );
}
