// Five words for a box that has no screen to show a code on. They are shown once, while they work.
import { useState } from 'preact/hooks';
import { invite } from '../../lib/api-cluster';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { Invitation } from '../../lib/types-cluster';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Copy } from '../../ui/Copy';
import { Dialog } from '../../ui/Dialog';
import { PasswordField } from '../../ui/PasswordField';
import { Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useSecondsUntil } from '../../ui/useSecondsUntil';
import css from './peers.module.css';

function Words({ made, onClose }: { made: Invitation; onClose: () => void }) {
  const left = useSecondsUntil(made.expires_at);
  return (
    <Dialog title={t('invite.words')} onClose={onClose} footer={<Button onClick={onClose}>{t('action.close')}</Button>}>
      {left === 0 ? (
        <Note tone="warning" live>
          {t('invite.over')}
        </Note>
      ) : (
        <>
          <p class={css.words} translate={false}>
            {made.words}
          </p>
          <p class={css.limits}>
            <span>{t('invite.once')}</span>
            <span data-late={left < 60 || undefined}>{t('approve.left', { time: f.countdown(left) })}</span>
          </p>
          <div>
            <p>{t('invite.how')}</p>
            <ul class={css.list}>
              <li>{t('invite.how_page')}</li>
              <li>
                {t('invite.how_cli')} <code>sudo samovar join</code>
              </li>
            </ul>
          </div>
          <div>
            <p class={css.hint}>{t('invite.digest')}</p>
            <Copy value={made.ca_digest} label={t('invite.digest')} />
          </div>
        </>
      )}
    </Dialog>
  );
}

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const [password, setPassword] = useState('');
  const [made, setMade] = useState<Invitation | null>(null);
  const action = useAction();
  const submit = (): void =>
    void action.run(async () => {
      try {
        setMade(await invite(password));
      } finally {
        setPassword('');
      }
    });
  if (made) return <Words key="words" made={made} onClose={onClose} />;
  return (
    <Dialog
      title={t('invite.title')}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button type="submit" variant="primary" busy={action.busy} disabled={!password}>
            {t('invite.submit')}
          </Button>
        </>
      }
    >
      <p>{t('invite.text')}</p>
      <Problem error={action.error} />
      <PasswordField label={t('login.password')} value={password} onInput={setPassword} autoFocus />
    </Dialog>
  );
}
