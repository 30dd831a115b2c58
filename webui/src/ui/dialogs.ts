// Dialogs and lists of the frame, fetched once the first page stands: they must be there when the network no longer is.
import { session } from '../lib/stores';

export const dialogs = {
  password: () => import('./PasswordDialog'),
  expiry: () => import('./ExpiryDialog'),
  help: () => import('./HelpDialog'),
  tray: () => import('./TrayList'),
  person: () => import('./PersonPanel'),
};

export function fetchDialogs(): void {
  const load = (): void => {
    if (session.peek()) for (const one of Object.values(dialogs)) one().catch(() => undefined);
  };
  if ('requestIdleCallback' in globalThis) requestIdleCallback(load, { timeout: 5000 });
  else setTimeout(load, 2000);
}
