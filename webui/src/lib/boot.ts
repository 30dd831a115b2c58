// From an opened page to a usable one: what phase the box is in, and whether this browser is logged in.
import { effect } from '@preact/signals';
import * as api from './api';
import { findSession, startAuth } from './auth';
import { startEvents, stopEvents } from './events';
import { mayUpload, session, sessionKnown, setup, unreachable } from './stores';
import type { Phase } from './types';

export async function readPhase(): Promise<Phase | null> {
  try {
    setup.value = await api.getSetup();
    unreachable.value = false;
    if (setup.value.phase === 'ready' && !sessionKnown.value) await findSession();
    return setup.value.phase;
  } catch {
    unreachable.value = true;
    return null;
  }
}

// While the box cannot be used, ask again every few seconds: it may be unlocked elsewhere or still be starting.
export function watchPhase(): () => void {
  let timer: ReturnType<typeof setTimeout>;
  let stopped = false;
  const tick = async (): Promise<void> => {
    await readPhase();
    if (!stopped) timer = setTimeout(() => void tick(), 2000);
  };
  timer = setTimeout(() => void tick(), 2000);
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

export function start(): void {
  startAuth();
  effect(() => {
    if (session.value) startEvents();
    else stopEvents();
  });
  // Unfinished uploads are shown wherever one is; sending them is nothing the first paint waits for.
  effect(() => {
    if (mayUpload.value) setTimeout(() => void import('./uploads').then((uploads) => uploads.startUploads(), () => undefined), 0);
  });
  void readPhase();
}
