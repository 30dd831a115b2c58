// The menu of the person: who it is, how the pages look, and the way out.
import '../messages/en-gate';
import { logout } from '../lib/auth';
import { t } from '../lib/messages';
import { setTheme } from '../lib/prefs';
import { session, theme } from '../lib/stores';
import { Button, LinkButton } from './Button';
import { Icon } from './Icon';
import css from './PersonPanel.module.css';

export default function PersonPanel({ close, onHelp }: { close: () => void; onHelp: () => void }) {
  const user = session.value?.user;
  if (!user) return null;
  return (
    <div class={css.menu}>
      <p class={css.who}>
        <strong>{user.display_name || user.username}</strong>
        <span>
          {user.username} · {t(`role.${user.role}`)}
        </span>
      </p>
      <fieldset class={css.themes}>
        <legend>{t('theme.label')}</legend>
        {(['system', 'light', 'dark'] as const).map((name) => (
          <label key={name} data-on={theme.value === name}>
            <input type="radio" name="theme" checked={theme.value === name} onChange={() => setTheme(name)} />
            <Icon name={name === 'system' ? 'monitor' : name === 'light' ? 'sun' : 'moon'} size={16} />
            {t(`theme.${name}`)}
          </label>
        ))}
      </fieldset>
      <LinkButton variant="quiet" icon="person" href="/account">
        {t('nav.account')}
      </LinkButton>
      <Button
        variant="quiet"
        icon="help"
        onClick={() => {
          close();
          onHelp();
        }}
      >
        {t('help.title')}
      </Button>
      <Button variant="quiet" icon="logout" onClick={() => void logout()}>
        {t('frame.logout')}
      </Button>
    </div>
  );
}
