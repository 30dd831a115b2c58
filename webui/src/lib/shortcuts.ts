// Keyboard shortcuts: "g" and a letter jump, "/" goes to the search field, "?" shows them all.
// They never act while somebody types or a dialog is open, and can be switched off (WCAG 2.1.4).
import { navigate } from './router';
import { shortcutsOn } from './stores';

export const jumps: Readonly<Record<string, string>> = { o: '/', n: '/nodes', d: '/datasets', j: '/jobs', m: '/models', u: '/users', k: '/tokens', a: '/audit', s: '/settings' };

function busy(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  if (document.querySelector('dialog[open]')) return true;
  return !!element?.closest?.('input, textarea, select, [contenteditable]');
}

export function startShortcuts(showHelp: () => void): () => void {
  let pending = 0;
  const onKey = (event: KeyboardEvent): void => {
    if (!shortcutsOn.value || event.ctrlKey || event.metaKey || event.altKey || busy(event.target)) return;
    const now = event.timeStamp;
    if (pending && now - pending < 1500 && jumps[event.key]) {
      event.preventDefault();
      navigate(jumps[event.key]!);
      pending = 0;
    } else if (event.key === 'g') {
      pending = now;
    } else if (event.key === '/') {
      const field = document.querySelector<HTMLInputElement>('[data-search]');
      if (field) {
        event.preventDefault();
        field.focus();
      }
    } else if (event.key === '?') {
      event.preventDefault();
      showHelp();
    } else {
      pending = 0;
    }
  };
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}
