// What this browser remembers: theme and shortcuts. Never anything secret, never anything about the box.
import { effect } from '@preact/signals';
import { resolvedTheme, shortcutsOn, theme, type Theme } from './stores';

function load(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
function save(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Storage switched off: the choice lasts until the page closes.
  }
}

export function setTheme(next: Theme): void {
  theme.value = next;
  save('samovar.theme', next);
}
export function setShortcuts(on: boolean): void {
  shortcutsOn.value = on;
  save('samovar.shortcuts', on ? 'on' : 'off');
}
export const wantsPseudoLocale = (): boolean => load('samovar.locale') === 'pseudo';

// Whether a session cookie may be there: scripts cannot see it. Where storage is off, always ask.
export const rememberSession = (on: boolean): void => save('samovar.session', on ? 'yes' : 'no');
export function mayHaveSession(): boolean {
  try {
    return localStorage.getItem('samovar.session') === 'yes';
  } catch {
    return true;
  }
}

// Small switches such as a checked item of the overview's list.
export const loadFlag = (name: string): boolean => load(`samovar.flag.${name}`) === '1';
export const saveFlag = (name: string, on: boolean): void => save(`samovar.flag.${name}`, on ? '1' : '0');

export function startPrefs(): void {
  const stored = load('samovar.theme');
  theme.value = stored === 'light' || stored === 'dark' ? stored : 'system';
  shortcutsOn.value = load('samovar.shortcuts') !== 'off';
  const system = matchMedia('(prefers-color-scheme: dark)');
  const resolve = (): void => {
    const dark = theme.value === 'dark' || (theme.value === 'system' && system.matches);
    resolvedTheme.value = dark ? 'dark' : 'light';
    document.documentElement.dataset.theme = resolvedTheme.value;
  };
  system.addEventListener('change', resolve);
  effect(resolve);
}
