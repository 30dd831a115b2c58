// What was typed into the wizard so far. The plain part survives a reload in this tab's storage;
// the code, the password and the passphrase live in memory only and must be typed again.
import type { SetupRequest } from '../../lib/types';

export interface Draft {
  step: number;
  boxName: string;
  timeZone: string;
  username: string;
  displayName: string;
  mode: 'passphrase' | 'key_file' | '';
  riskSeen: boolean;
  code: string;
  password: string;
  passphrase: string;
  passphraseAgain: string;
}

const key = 'samovar.setup';
const kept = ['step', 'boxName', 'timeZone', 'username', 'displayName', 'mode'] as const;

export function emptyDraft(hostname: string): Draft {
  return {
    step: 0,
    boxName: hostname,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
    username: '',
    displayName: '',
    mode: '',
    riskSeen: false,
    code: '',
    password: '',
    passphrase: '',
    passphraseAgain: '',
  };
}

// `resumed` says that entries were found; the first step is shown again because the code is never kept.
export function loadDraft(hostname: string): { draft: Draft; resumed: boolean } {
  const draft = emptyDraft(hostname);
  try {
    const stored = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Partial<Draft> | null;
    if (!stored || !stored.step) return { draft, resumed: false };
    for (const name of kept) if (name !== 'step' && stored[name] !== undefined) Object.assign(draft, { [name]: stored[name] });
    return { draft, resumed: true };
  } catch {
    return { draft, resumed: false };
  }
}

export function saveDraft(draft: Draft): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(kept.map((name) => [name, draft[name]]))));
  } catch {
    // Without storage a reload begins anew; nothing else is lost.
  }
}

export function toRequest(draft: Draft): SetupRequest {
  return {
    code: draft.code.trim(),
    box_name: draft.boxName.trim(),
    time_zone: draft.timeZone,
    admin: { username: draft.username.trim(), display_name: draft.displayName.trim(), password: draft.password },
    unlock: draft.mode === 'key_file' ? { mode: 'key_file' } : { mode: 'passphrase', passphrase: draft.passphrase },
  };
}

// The log-in page greets the administrator who was just made.
let freshAdmin: string | null = null;
// Said before the answer comes: the page asks for the box's phase by itself and may be first to hear of it.
export function expectAdmin(username: string | null): void {
  freshAdmin = username;
}
export function finish(): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Nothing was kept then.
  }
}
export function takeFreshAdmin(): string | null {
  const name = freshAdmin;
  freshAdmin = null;
  return name;
}
