// What surrounds every page once somebody is logged in: navigation, live pill, task tray, person.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../lib/messages';
import { startShortcuts } from '../lib/shortcuts';
import { cluster, members, place, role, servedBy, session, setup } from '../lib/stores';
import { Button } from './Button';
import { dialogs, fetchDialogs } from './dialogs';
import { Disclosure } from './Disclosure';
import { Icon } from './Icon';
import { Lazy } from './Lazy';
import { LivePill } from './LivePill';
import { Logo } from './Logo';
import { navItems } from './nav';
import { QuorumBanner } from './QuorumBanner';
import { SessionWarning } from './SessionWarning';
import { TaskTray } from './TaskTray';
import { Toasts } from './Toasts';
import css from './Frame.module.css';

function Nav() {
  const path = place.value.path;
  return (
    <ul class={css.links}>
      {navItems(role.value).map((item) => {
        const on = item.href === '/' ? path === '/' : path === item.href || path.startsWith(`${item.href}/`);
        return (
          <li key={item.href}>
            <a href={item.href} aria-current={on ? 'page' : undefined}>
              <Icon name={item.icon} />
              {t(item.label)}
            </a>
          </li>
        );
      })}
    </ul>
  );
}

function PersonMenu({ onHelp }: { onHelp: () => void }) {
  const user = session.value?.user;
  if (!user) return null;
  return (
    <Disclosure icon="person" label={t('frame.person', { name: user.display_name || user.username })} text={user.display_name || user.username}>
      {(close) => <Lazy load={dialogs.person} props={{ close, onHelp }} />}
    </Disclosure>
  );
}

export function Frame({ children }: { children: ComponentChildren }) {
  const [menu, setMenu] = useState(false);
  const [help, setHelp] = useState(false);
  const { path } = place.value;
  useEffect(() => setMenu(false), [path]);
  useEffect(fetchDialogs, []);
  useEffect(() => startShortcuts(() => setHelp(true)), []);
  const name = cluster.value?.name ?? '';
  // Every node serves the same pages: which one this is matters once there are several.
  const by = members.value.total > 1 ? servedBy.value?.name : undefined;
  return (
    <div class={css.frame}>
      <a class={css.skip} href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>
        {t('frame.skip')}
      </a>
      <header class={css.bar}>
        <Button variant="quiet" icon={menu ? 'close' : 'menu'} aria-label={t('frame.menu')} aria-expanded={menu} aria-controls="nav" onClick={() => setMenu(!menu)} />
        <a class={css.brand} href="/" title={t('frame.home')}>
          <Logo size={30} />
          <span class={css.names}>
            <b>{t('app.name')}</b>
            <span>{name}</span>
          </span>
        </a>
        {by && (
          <span class={css.by} title={t('frame.served_by', { node: by })}>
            <Icon name="nodes" size={16} />
            <span class="visually-hidden">{t('frame.served')}</span>
            <span translate={false}>{by}</span>
          </span>
        )}
        {/* One menu at a time: on a phone they would lie on top of each other. */}
        <div class={css.tools} onPointerDown={() => setMenu(false)} onFocusCapture={() => setMenu(false)}>
          <LivePill />
          <TaskTray />
          <PersonMenu onHelp={() => setHelp(true)} />
        </div>
      </header>
      <nav id="nav" class={css.nav} aria-label={t('frame.nav')} data-open={menu}>
        <Nav />
        <p class={css.version}>
          {t('frame.version', { version: cluster.value?.version ?? setup.value?.version ?? '' })}
          {by && <span translate={false}>{t('frame.served_by', { node: by })}</span>}
        </p>
      </nav>
      <main id="main" class={css.main} tabIndex={-1}>
        <QuorumBanner />
        {children}
      </main>
      <Toasts />
      {help && <Lazy load={dialogs.help} props={{ onClose: () => setHelp(false) }} />}
      <SessionWarning />
    </div>
  );
}
