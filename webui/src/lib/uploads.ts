// Files on their way to the box: a queue, two at a time, that survives what happens to pages and networks.
//
// The box holds the truth: it lists the uploads of this person with how far each has come. This browser only
// remembers which file (name, size, date of change) an upload was begun with, so that the same file goes on where it
// stopped, after a reload, a restart of the browser or of the box. A lost answer is asked for again until it comes;
// the end of the session opens the log-in dialog and the bytes go on behind it.
import '../messages/en-work';
import { effect } from '@preact/signals';
import * as api from './api';
import * as data from './api-data';
import { t } from './messages';
import { Rate } from './rate';
import { live, mayUpload, place, session, toast, transfers, type Transfer, type TransferState } from './stores';
import type { Upload } from './types-data';
import { forgetFile, knownUpload, knownUse, rememberFile, rememberUse } from './upload-memory';

const atOnce = 2;
const retryMs = [1000, 2000, 4000, 8000, 15_000];
// What another try may mend: no answer, a slow or crowded box, an offset that was not ours, a token of an old log-in.
const passing = new Set([0, 401, 408, 409, 423, 425, 429]);
const mends = (error: api.ApiError): boolean => passing.has(error.status) || error.code === 'csrf' || (error.status >= 500 && error.status !== 507);

interface Work {
  file: File;
  run: number; // goes up with each start and stop; what belongs to an older one is over
  creating: Promise<void> | null;
  stop: (() => void) | null;
  attempt: number;
  movedAt: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  rate: Rate;
}
const works = new Map<string, Work>();
const newWork = (file: File): Work => ({ file, run: 0, creating: null, stop: null, attempt: 0, movedAt: 0, timer: undefined, rate: new Rate() });
let keys = 0;

const find = (key: string): Transfer | undefined => transfers.value.find((one) => one.key === key);
function set(key: string, change: Partial<Transfer>): void {
  transfers.value = transfers.value.map((one) => (one.key === key ? { ...one, ...change } : one));
}

// --- Other tabs: they show what this one sends, and do not send it a second time.
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('samovar.uploads');
type Note = { id: string; sent: number; state: TransferState } | { gone: string };
channel?.addEventListener('message', (event: MessageEvent<Note>) => {
  const note = event.data;
  if ('gone' in note) {
    transfers.value = transfers.value.filter((one) => one.id !== note.gone);
    return;
  }
  const mine = transfers.value.find((one) => one.id === note.id);
  if (!mine || works.has(mine.key)) {
    if (!mine) void refreshUploads();
    return;
  }
  heard.set(mine.key, performance.now());
  if (note.state === 'sent') void refreshUploads();
  else set(mine.key, { state: note.state === 'paused' ? 'file' : 'elsewhere', sent: note.sent });
});
// A tab that closed or crashed sends no more.
const silenceMs = 20_000;
const heard = new Map<string, number>();
function noticeSilence(): void {
  for (const one of transfers.value) {
    if (one.state === 'elsewhere' && performance.now() - (heard.get(one.key) ?? 0) > silenceMs) set(one.key, { state: 'file' });
  }
}
function leave(): void {
  for (const one of transfers.value) if (works.has(one.key) && one.id) channel?.postMessage({ id: one.id, sent: one.sent, state: 'paused' } satisfies Note);
}
function tell(key: string): void {
  const one = find(key);
  if (one?.id) channel?.postMessage({ id: one.id, sent: one.sent, state: one.state } satisfies Note);
}

// --- Sending
function stop(key: string): void {
  const work = works.get(key);
  if (!work) return;
  work.run += 1;
  clearTimeout(work.timer);
  work.timer = undefined;
  work.stop?.();
  work.stop = null;
}

function pump(): void {
  const busy = transfers.value.filter((one) => one.state === 'sending' || one.state === 'waiting').length;
  for (const next of transfers.value.filter((one) => one.state === 'queued').slice(0, Math.max(0, atOnce - busy))) void begin(next.key);
}

async function create(key: string, file: File): Promise<void> {
  const id = await data.createUpload(file.name, file.size);
  if (!find(key)) {
    // Cancelled meanwhile.
    await data.deleteUpload(id);
    return;
  }
  rememberFile(file, id);
  set(key, { id });
}

async function begin(key: string): Promise<void> {
  const work = works.get(key);
  const one = find(key);
  if (!work || !one) return;
  set(key, { state: 'sending', error: '' });
  work.run += 1;
  work.rate = new Rate();
  work.movedAt = performance.now();
  const run = work.run;
  try {
    if (!one.id) {
      work.creating ??= create(key, work.file).finally(() => (work.creating = null));
      await work.creating;
    }
    const id = find(key)?.id;
    if (!id || work.run !== run) return;
    let shown = 0;
    const halt = await data.sendUpload(id, work.file, {
      onProgress: (sent) => {
        if (work.run !== run) return;
        work.attempt = 0;
        const now = performance.now();
        work.movedAt = now;
        work.rate.add(sent, now);
        // Bytes move faster than anybody reads.
        if (now - shown < 250 && sent < work.file.size) return;
        shown = now;
        set(key, { sent, state: 'sending', perSecond: work.rate.perSecond() });
        tell(key);
      },
      onDone: (sha256) => void done(key, sha256),
      onError: (error) => void (work.run === run && failed(key, error)),
    });
    if (work.run === run) work.stop = halt;
    else halt();
  } catch (error) {
    if (work.run === run) await failed(key, error);
  }
}

// A dead line sends no error. Long enough for a box that is writing to a slow disk.
const stallMs = 60_000;
function noticeStalls(): void {
  for (const one of transfers.value) {
    const work = works.get(one.key);
    if (!work?.stop || one.state !== 'sending' || performance.now() - work.movedAt < stallMs) continue;
    stop(one.key);
    void failed(one.key, new api.ApiError({ status: 0, code: 'unreachable' }));
  }
}

async function done(key: string, sha256: string): Promise<void> {
  const work = works.get(key);
  const one = find(key);
  if (!work || !one) return;
  works.delete(key);
  forgetFile(work.file);
  // The last answer may have been lost, and with it the hash: the box knows it.
  const hash = sha256 || (await data.getUpload(one.id).then((upload) => upload.sha256 ?? '', () => ''));
  set(key, { state: 'sent', sent: one.length, perSecond: null, sha256: hash });
  tell(key);
  if (place.value.path !== '/datasets') toast(t('transfer.arrived', { name: one.name }), { tone: 'ok' });
  pump();
}

async function failed(key: string, error: unknown): Promise<void> {
  const work = works.get(key);
  if (!work) return;
  work.stop = null;
  if (error instanceof api.ApiError && !api.cancelled(error)) {
    if (error.status === 401) {
      set(key, { state: 'waiting', perSecond: null, error: error.message });
      if (await api.logInAgain()) void begin(key);
      return;
    }
    if (mends(error)) {
      const wait = retryMs[Math.min(work.attempt, retryMs.length - 1)];
      work.attempt += 1;
      set(key, { state: 'waiting', perSecond: null, error: error.message });
      tell(key);
      work.timer = setTimeout(() => void begin(key), wait);
      return;
    }
    if (error.status === 404 || error.status === 410) {
      forgetFile(work.file);
      set(key, { id: '', sent: 0 });
    }
  }
  set(key, { state: 'failed', perSecond: null, error: api.errorText(error) });
  pump();
}

// --- What a person does
function append(file: File, change: Partial<Transfer>): string {
  keys += 1;
  const key = `t${keys}`;
  const one: Transfer = { key, id: '', name: file.name, length: file.size, sent: 0, state: 'queued', perSecond: null, error: '', sha256: '', operation: '', ...change };
  works.set(key, newWork(file));
  transfers.value = [...transfers.value, one];
  return key;
}

const isSame = (a: File | undefined, b: File): boolean => a?.name === b.name && a.size === b.size && a.lastModified === b.lastModified;

// A file that was begun before goes on; any other begins.
export async function addFiles(files: readonly File[]): Promise<void> {
  await known.catch(() => undefined);
  for (const file of files) {
    const id = knownUpload(file);
    const begun = transfers.value.find((one) => (id ? one.id === id : isSame(works.get(one.key)?.file, file)));
    if (begun && works.has(begun.key)) {
      if (begun.state === 'paused' || begun.state === 'failed') resume(begun.key);
    } else if (begun?.state === 'file') attach(begun.key, file);
    else if (!begun || begun.state !== 'elsewhere') append(file, {});
  }
  pump();
}

// The same file again, chosen by hand. False when it cannot be the same.
export function attach(key: string, file: File): boolean {
  const one = find(key);
  if (!one || file.size !== one.length || file.name !== one.name) return false;
  rememberFile(file, one.id);
  works.set(key, newWork(file));
  set(key, { state: 'queued', error: '' });
  pump();
  return true;
}

export function pause(key: string): void {
  set(key, { state: 'paused', perSecond: null, error: '' });
  stop(key);
  tell(key);
  pump();
}

export function resume(key: string): void {
  if (!works.has(key)) return;
  set(key, { state: 'queued', error: '' });
  pump();
}

export async function cancel(key: string): Promise<void> {
  const one = find(key);
  if (!one) return;
  set(key, { state: 'paused' });
  stop(key);
  const work = works.get(key);
  if (work) forgetFile(work.file);
  if (one.id) {
    await data.deleteUpload(one.id).catch((error: unknown) => {
      // Gone already is as good.
      if (!(error instanceof api.ApiError) || (error.status !== 404 && error.status !== 410)) throw error;
    });
  }
  dropCard(key);
  pump();
}

// A data set is being made of it.
export function usedBy(key: string, operation: string): void {
  rememberUse(find(key)?.id ?? '', operation);
  set(key, { operation });
}
export function dropCard(key: string): void {
  const id = find(key)?.id;
  works.delete(key);
  transfers.value = transfers.value.filter((one) => one.key !== key);
  if (id) channel?.postMessage({ gone: id } satisfies Note);
}

// --- What the box knows
function fromBox(upload: Upload): Transfer {
  keys += 1;
  const state = upload.complete ? 'sent' : 'file';
  return { key: `t${keys}`, id: upload.id, name: upload.file_name, length: upload.length, sent: upload.offset, state, perSecond: null, error: '', sha256: upload.sha256 ?? '', operation: knownUse(upload.id) };
}

// The first look at the box's list; files dropped before it wait, or they would begin a second time.
let known: Promise<void> = Promise.resolve();

export async function refreshUploads(): Promise<void> {
  const mine = session.value?.user.id;
  const { items } = await data.getUploads();
  const listed = new Map(items.filter((upload) => upload.owner_id === mine).map((upload) => [upload.id, upload]));
  const kept = transfers.value.flatMap((one) => {
    const upload = listed.get(one.id);
    listed.delete(one.id);
    if (!one.id || works.has(one.key)) return one;
    if (!upload) return [];
    return upload.complete ? { ...one, state: 'sent' as const, sent: one.length, sha256: upload.sha256 ?? '' } : { ...one, sent: Math.max(one.sent, upload.offset) };
  });
  transfers.value = [...kept, ...[...listed.values()].map(fromBox)];
}

// --- Life of the page
function beforeLeaving(event: BeforeUnloadEvent): void {
  if (transfers.value.some((one) => works.has(one.key) && (one.state === 'sending' || one.state === 'waiting' || one.state === 'queued'))) event.preventDefault();
}

let started = false;
export function startUploads(): void {
  if (started) return;
  started = true;
  addEventListener('beforeunload', beforeLeaving);
  addEventListener('pagehide', leave);
  setInterval(() => {
    noticeSilence();
    noticeStalls();
  }, 5000);
  // The box is back: no need to wait for the next try.
  effect(() => {
    if (live.value.state !== 'live') return;
    for (const one of transfers.peek()) {
      const work = works.get(one.key);
      if (!work || one.state !== 'waiting' || !work.timer) continue;
      clearTimeout(work.timer);
      work.timer = undefined;
      void begin(one.key);
    }
  });
  // Whoever logs out takes their files along.
  effect(() => {
    if (session.value) {
      if (!mayUpload.value) return;
      known = refreshUploads();
      known.catch(() => undefined);
      return;
    }
    for (const work of works.values()) {
      clearTimeout(work.timer);
      work.stop?.();
    }
    works.clear();
  });
}
