// The session of this browser: logging in and out, the two password dialogs, and the warning before it ends.
//
// Tabs tell each other about log-in and log-out, so that none keeps showing what its person may no longer see.
import * as api from './api';
import { forgetSession, passwordPrompt, serverNow, session, sessionKnown } from './stores';
import { unixSeconds } from './format';
import { mayHaveSession, rememberSession } from './prefs';
import type { Session } from './types';

const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('samovar.session');
type Note = { kind: 'in' } | { kind: 'out' };

// What the person was told when the session ended, shown on the log-in page.
export type EndReason = 'logged_out' | 'expired' | null;
let reason: EndReason = null;
export const endReason = (): EndReason => reason;

function settle(ok: boolean): void {
  const prompt = passwordPrompt.value;
  passwordPrompt.value = null;
  prompt?.done(ok);
}

// Many calls may fail at once; they all wait for the same dialog.
let waiting: Promise<boolean> | null = null;
function ask(kind: 'login' | 'reauth'): Promise<boolean> {
  waiting ??= new Promise<boolean>((resolve) => {
    passwordPrompt.value = {
      kind,
      done: (ok) => {
        waiting = null;
        resolve(ok);
      },
    };
  });
  return waiting;
}

function accept(next: Session): void {
  reason = null;
  rememberSession(true);
  session.value = next;
  sessionKnown.value = true;
}

function end(why: EndReason): void {
  reason = why;
  rememberSession(false);
  forgetSession();
  settle(false);
}

// At the first look: a browser that never logged in need not ask, and gets no error to show in its console.
export async function findSession(): Promise<void> {
  if (mayHaveSession()) await refreshSession();
  else sessionKnown.value = true;
}

export async function refreshSession(): Promise<boolean> {
  try {
    accept(await api.getSession());
    return true;
  } catch (error) {
    if (error instanceof api.ApiError && error.status === 401) {
      rememberSession(false);
      sessionKnown.value = true;
      return false;
    }
    throw error;
  }
}

export async function login(username: string, password: string): Promise<void> {
  const before = session.value?.user.id;
  const next = await api.login(username, password);
  // Somebody else logged in over the page of another: nothing of the first may stay.
  if (before && before !== next.user.id) forgetSession();
  accept(next);
  channel?.postMessage({ kind: 'in' } satisfies Note);
  settle(true);
}

export async function reauthenticate(password: string): Promise<void> {
  accept(await api.reauth(password));
  settle(true);
}

export function decline(): void {
  if (passwordPrompt.value?.kind === 'login') end('expired');
  else settle(false);
}

export async function logout(): Promise<void> {
  try {
    await api.logout();
  } catch {
    // The session may be gone already; here it ends in any case.
  }
  channel?.postMessage({ kind: 'out' } satisfies Note);
  end('logged_out');
}

// Seconds until the session ends by itself.
export function secondsLeft(): number {
  const current = session.value;
  if (!current) return Number.POSITIVE_INFINITY;
  const until = Math.min(unixSeconds(current.expires_at), unixSeconds(current.idle_expires_at));
  return until - serverNow() / 1000;
}
// At the absolute limit "stay" cannot help: only the password can.
export function endsForGood(): boolean {
  const current = session.value;
  return !!current && unixSeconds(current.expires_at) <= unixSeconds(current.idle_expires_at);
}

// The event stream told us that the session is over, or the clock did.
export async function sessionEnded(): Promise<void> {
  if (!session.value || passwordPrompt.value?.kind === 'login') return;
  // A box that has just restarted knows no session until it is unlocked; then it knows this one again.
  const phase = await api.getSetup().then((setup) => setup.phase, () => null);
  if (phase !== 'ready') return;
  if (await refreshSession().catch(() => true)) return;
  await ask('login');
}

// The box answers with the time before this call counted, so ask until the new one shows.
export async function stay(): Promise<void> {
  for (let i = 0; i < 5; i += 1) {
    if (!(await refreshSession())) return;
    if (secondsLeft() > 150) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

// A person who types or clicks without causing a request is not idle. At most one call a minute.
let lastTouch = 0;
export function touch(nowMs: number = Date.now()): void {
  if (!session.value || nowMs - lastTouch < 60_000 || passwordPrompt.value) return;
  lastTouch = nowMs;
  void refreshSession().catch(() => undefined);
}

export function startAuth(): void {
  api.setPrompts(
    async () => (session.value ? ask('login') : false),
    () => ask('reauth'),
  );
  channel?.addEventListener('message', (event: MessageEvent<Note>) => {
    if (event.data.kind === 'out') end('logged_out');
    else void refreshSession().then((ok) => ok && settle(true), () => undefined);
  });
  for (const kind of ['pointerdown', 'keydown']) addEventListener(kind, () => touch(), { passive: true });
}
