// What a new box still needs. Each item is checked against the box where that can be known; the certificate cannot,
// so the person ticks it.
import { useEffect, useState } from 'preact/hooks';
import * as access from '../../lib/api-access';
import { t } from '../../lib/messages';
import { loadFlag, saveFlag } from '../../lib/prefs';
import { Button, LinkButton } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Icon } from '../../ui/Icon';
import css from './OverviewPage.module.css';

export function Tick({ done, number }: { done: boolean; number?: number }) {
  return (
    <span class={css.tick} data-done={done}>
      {done ? <Icon name="check" size={14} /> : number}
      <span class="visually-hidden">{t(done ? 'checklist.done' : 'checklist.open')}</span>
    </span>
  );
}

export function Checklist() {
  const [admins, setAdmins] = useState<number | null>(null);
  const [trusted, setTrusted] = useState(loadFlag('certificate'));
  useEffect(() => {
    access.countAdmins().then(setAdmins, () => setAdmins(null));
  }, []);
  const second = admins !== null && admins > 1;
  const trust = (on: boolean): void => {
    setTrusted(on);
    saveFlag('certificate', on);
  };
  return (
    <Card title={t('checklist.title')}>
      <ol class={css.checks}>
        <li>
          <Tick done={trusted} />
          <div>
            <h3>{t('checklist.certificate')}</h3>
            <p>{t('checklist.certificate_text')}</p>
            <div class={css.row}>
              <LinkButton small icon="download" href="/ca.crt" download="samovar-ca.crt">
                {t('settings.download_ca')}
              </LinkButton>
              <Button small variant="quiet" onClick={() => trust(!trusted)}>
                {t(trusted ? 'checklist.undo' : 'checklist.mark')}
              </Button>
            </div>
          </div>
        </li>
        <li>
          <Tick done={second} />
          <div>
            <h3>{t('checklist.admin')}</h3>
            <p>{t(second ? 'checklist.admin_done' : 'checklist.admin_text')}</p>
            {!second && (
              <LinkButton small icon="plus" href="/users?new=1">
                {t('users.add')}
              </LinkButton>
            )}
          </div>
        </li>
      </ol>
    </Card>
  );
}
