// One's own things: password, look of this browser, shortcuts.
import '../../messages/en-access';
import { useState } from 'preact/hooks';
import * as access from '../../lib/api-access';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { guidance } from '../../lib/password';
import { setShortcuts, setTheme } from '../../lib/prefs';
import { session, shortcutsOn, theme, toast, type Theme } from '../../lib/stores';
import { Button } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Choice, Select } from '../../ui/Field';
import { Page } from '../../ui/Page';
import { PasswordField } from '../../ui/PasswordField';
import { fieldError, Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import css from '../settings/settings.module.css';

function Password() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const action = useAction();
  const username = session.value?.user.username ?? '';
  const save = (event: Event): void => {
    event.preventDefault();
    void action.run(async () => {
      await access.changePassword(current, next);
      setCurrent('');
      setNext('');
      toast(t('account.changed'), { tone: 'ok' });
    });
  };
  return (
    <Card title={t('account.password')}>
      <form class={css.form} novalidate onSubmit={save}>
        <Problem error={action.error} />
        <PasswordField label={t('account.current')} value={current} onInput={setCurrent} error={fieldError(action.error, '/current_password')} />
        <PasswordField label={t('account.next')} value={next} onInput={setNext} fresh username={username} error={fieldError(action.error, '/new_password')} hint={t('password.advice')} />
        <div>
          <Button type="submit" variant="primary" busy={action.busy} disabled={!current || guidance(next, username).level === 0}>
            {t('account.change')}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function Browser() {
  return (
    <Card title={t('account.browser')}>
      <div class={css.form}>
        <Select
          label={t('theme.label')}
          value={theme.value}
          onChange={(value) => setTheme(value as Theme)}
          options={(['system', 'light', 'dark'] as const).map((value) => ({ value, label: t(`theme.${value}`) }))}
        />
        <Choice kind="checkbox" label={t('help.switch')} detail={t('help.switch_detail')} checked={shortcutsOn.value} onChange={setShortcuts} />
      </div>
    </Card>
  );
}

export default function AccountPage() {
  const current = session.value;
  if (!current) return null;
  const last = current.last_login;
  return (
    <Page
      title={t('nav.account')}
      lead={t('account.lead', { name: current.user.username, role: t(`role.${current.user.role}`) })}
    >
      <div class={css.columns}>
        <Password />
        <Browser />
      </div>
      <Card title={t('account.session')}>
        <dl class={css.facts}>
          <dt>{t('account.since')}</dt>
          <dd>{f.dateTime(current.created_at)}</dd>
          <dt>{t('account.until')}</dt>
          <dd>{f.dateTime(current.expires_at)}</dd>
          <dt>{t('account.last')}</dt>
          <dd>{last ? t('account.last_text', { when: f.dateTime(last.at), address: last.address }) : t('account.last_none')}</dd>
        </dl>
      </Card>
    </Page>
  );
}
