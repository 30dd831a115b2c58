import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, setPrompts, type Problem } from '../../src/lib/api';
import * as data from '../../src/lib/api-data';
import { Rate, secondsLeft } from '../../src/lib/rate';
import { live, operations, operationsKnown, sendingNow, session, transfers, waitsForLook } from '../../src/lib/stores';
import { pieceBytes, problemOf, send } from '../../src/lib/tus';
import type { Operation, Upload } from '../../src/lib/types-data';
import { forgetFile, knownUpload, knownUse, rememberFile } from '../../src/lib/upload-memory';
import * as uploads from '../../src/lib/uploads';
import { FakeRequest } from '../support/fake_request';
import { makeSession } from '../support/fakes';

vi.mock('../../src/lib/api-data');

const box = vi.mocked(data);
const file = (name = 'a.csv', size = 1000, lastModified = 5): File => new File([new Uint8Array(size)], name, { lastModified });
const made = (change: Partial<Upload> = {}): Upload => ({
  id: 'upl_1',
  file_name: 'a.csv',
  length: 1000,
  offset: 400,
  complete: false,
  sha256: null,
  created_at: '2026-01-01T00:00:00Z',
  expires_at: '2026-01-08T00:00:00Z',
  owner_id: 'usr_1',
  ...change,
});
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
};
const only = () => transfers.value[0]!;

// Each transfer under way, to be moved by the test.
let sends: { id: string; file: File; sending: data.Sending; stopped: boolean }[] = [];
let ids = 0;

beforeEach(() => {
  localStorage.clear();
  sends = [];
  ids = 0;
  box.getUploads.mockResolvedValue({ items: [], next_cursor: null });
  box.createUpload.mockImplementation(() => Promise.resolve(`upl_${(ids += 1)}`));
  box.deleteUpload.mockResolvedValue(undefined);
  box.sendUpload.mockImplementation((id, sent, sending) => {
    const one = { id, file: sent, sending, stopped: false };
    sends.push(one);
    return Promise.resolve(() => {
      one.stopped = true;
    });
  });
  session.value = makeSession();
});
afterEach(async () => {
  for (const one of transfers.value) await uploads.cancel(one.key);
  vi.clearAllMocks();
  vi.useRealTimers();
  setPrompts(() => Promise.resolve(false), () => Promise.resolve(false));
  transfers.value = [];
  operations.value = new Map();
  operationsKnown.value = false;
});

describe('a queue of files', () => {
  it('sends two at a time, in order', async () => {
    await uploads.addFiles([file('a.csv'), file('b.csv'), file('c.csv')]);
    await settle();
    expect(transfers.value.map((one) => one.state)).toEqual(['sending', 'sending', 'queued']);
    expect(sendingNow.value).toBe(3);
    sends[0]!.sending.onDone('ab12');
    await settle();
    expect(transfers.value.map((one) => one.state)).toEqual(['sent', 'sending', 'sending']);
    expect(only().sha256).toBe('ab12');
  });

  it('pauses, and goes on with the same upload', async () => {
    await uploads.addFiles([file()]);
    await settle();
    uploads.pause(only().key);
    expect(sends[0]!.stopped).toBe(true);
    sends[0]!.sending.onError(new ApiError({ status: 0, code: 'unreachable' }));
    expect(only().state).toBe('paused');
    uploads.resume(only().key);
    await settle();
    expect(box.createUpload).toHaveBeenCalledOnce();
    expect(sends[1]!.id).toBe('upl_1');
  });

  it('sends once, however fast it is paused and resumed', async () => {
    await uploads.addFiles([file()]);
    uploads.pause(only().key);
    uploads.resume(only().key);
    await uploads.addFiles([file()]);
    await settle();
    expect(box.createUpload).toHaveBeenCalledOnce();
    expect(transfers.value).toHaveLength(1);
    expect(sends.filter((one) => !one.stopped)).toHaveLength(1);
  });

  it('asks again until the box answers', async () => {
    vi.useFakeTimers();
    await uploads.addFiles([file()]);
    await settle();
    for (let i = 1; i <= 8; i += 1) {
      sends.at(-1)!.sending.onError(new ApiError({ status: 0, code: 'unreachable' }));
      await settle();
      expect(only().state).toBe('waiting');
      await vi.advanceTimersByTimeAsync(15_001);
      expect(sends).toHaveLength(i + 1);
      expect(only().state).toBe('sending');
    }
  });

  it('goes on at once when the box is heard again', async () => {
    vi.useFakeTimers();
    uploads.startUploads();
    await uploads.addFiles([file()]);
    await settle();
    sends[0]!.sending.onError(new ApiError({ status: 503, code: 'http_503' }));
    await settle();
    live.value = { state: 'live', since: 1 };
    await settle();
    expect(sends).toHaveLength(2);
    live.value = { state: 'connecting', since: 0 };
  });

  it('notices a line that is dead without saying so', async () => {
    vi.useFakeTimers();
    vi.resetModules();
    const fresh = await import('../../src/lib/uploads');
    const stores = await import('../../src/lib/stores');
    stores.session.value = makeSession();
    fresh.startUploads();
    await fresh.addFiles([file()]);
    await settle();
    sends[0]!.sending.onProgress(10);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(stores.transfers.value[0]!.state).toBe('sending');
    await vi.advanceTimersByTimeAsync(15_000);
    expect(sends[0]!.stopped).toBe(true);
    expect(sends.length).toBeGreaterThan(1);
  });

  it('asks for the password when the session has ended, and goes on', async () => {
    const asked = vi.fn<() => Promise<boolean>>(() => Promise.resolve(true));
    setPrompts(asked, () => Promise.resolve(false));
    await uploads.addFiles([file()]);
    await settle();
    sends[0]!.sending.onError(new ApiError({ status: 401, code: 'not_logged_in' }));
    await settle();
    expect(asked).toHaveBeenCalledOnce();
    expect(sends).toHaveLength(2);
  });

  it('says what another try cannot mend', async () => {
    await uploads.addFiles([file()]);
    await settle();
    sends[0]!.sending.onError(new ApiError({ status: 507, code: 'disk_full', detail: 'The disk is full.' }));
    await settle();
    expect(only()).toMatchObject({ state: 'failed', error: 'The disk is full.' });
  });

  it('begins anew when the box has forgotten the upload', async () => {
    await uploads.addFiles([file()]);
    await settle();
    sends[0]!.sending.onError(new ApiError({ status: 410, code: 'upload_expired' }));
    await settle();
    expect(only()).toMatchObject({ state: 'failed', id: '' });
    uploads.resume(only().key);
    await settle();
    expect(sends[1]!.id).toBe('upl_2');
  });

  it('takes back from the box what is cancelled', async () => {
    await uploads.addFiles([file()]);
    await settle();
    await uploads.cancel(only().key);
    expect(box.deleteUpload).toHaveBeenCalledWith('upl_1');
    expect(transfers.value).toHaveLength(0);
    expect(knownUpload(file())).toBeUndefined();
  });

  it('asks the box for the hash when the last answer was lost', async () => {
    box.getUpload.mockResolvedValue(made({ complete: true, sha256: 'cd34' }));
    await uploads.addFiles([file()]);
    await settle();
    sends[0]!.sending.onDone('');
    await settle();
    expect(only()).toMatchObject({ state: 'sent', sha256: 'cd34' });
  });
});

describe('after a reload', () => {
  it('shows what the box has of it, and the same file goes on', async () => {
    rememberFile(file(), 'upl_1');
    box.getUploads.mockResolvedValue({ items: [made()], next_cursor: null });
    await uploads.refreshUploads();
    expect(only()).toMatchObject({ state: 'file', sent: 400 });
    await uploads.addFiles([file()]);
    await settle();
    expect(box.createUpload).not.toHaveBeenCalled();
    expect(sends[0]!.id).toBe('upl_1');
    expect(transfers.value).toHaveLength(1);
  });

  it('begins anew with a file that was changed since', async () => {
    rememberFile(file(), 'upl_9');
    box.getUploads.mockResolvedValue({ items: [made({ id: 'upl_9' })], next_cursor: null });
    await uploads.refreshUploads();
    await uploads.addFiles([file('a.csv', 1000, 6)]);
    await settle();
    expect(box.createUpload).toHaveBeenCalledOnce();
    expect(transfers.value).toHaveLength(2);
  });

  it('takes the file by hand only when it can be the same', async () => {
    box.getUploads.mockResolvedValue({ items: [made()], next_cursor: null });
    await uploads.refreshUploads();
    expect(uploads.attach(only().key, file('a.csv', 999))).toBe(false);
    expect(uploads.attach(only().key, file('b.csv'))).toBe(false);
    expect(uploads.attach(only().key, file('a.csv', 1000, 77))).toBe(true);
  });

  it('leaves the uploads of others alone', async () => {
    box.getUploads.mockResolvedValue({ items: [made({ owner_id: 'usr_2' })], next_cursor: null });
    await uploads.refreshUploads();
    expect(transfers.value).toHaveLength(0);
  });

  it('knows which operation uses an upload', async () => {
    box.getUploads.mockResolvedValue({ items: [made({ complete: true, sha256: 'ab' })], next_cursor: null });
    await uploads.refreshUploads();
    uploads.usedBy(only().key, 'op_1');
    transfers.value = [];
    await uploads.refreshUploads();
    expect(only()).toMatchObject({ state: 'sent', operation: 'op_1' });
    expect(waitsForLook(only())).toBe(false);
    operations.value = new Map([['op_1', { id: 'op_1', state: 'failed' } as Operation]]);
    expect(waitsForLook(only())).toBe(true);
    operations.value = new Map();
    operationsKnown.value = true;
    expect(waitsForLook(only())).toBe(true);
  });
});

describe('memory of files', () => {
  it('survives damage and forgets', () => {
    localStorage.setItem('samovar.uploads', '{damaged');
    localStorage.setItem('samovar.uploads.used', '[');
    expect(knownUpload(file())).toBeUndefined();
    expect(knownUse('upl_1')).toBe('');
    rememberFile(file(), 'upl_1');
    expect(knownUpload(file())).toBe('upl_1');
    expect(knownUpload(file('a.csv', 1001))).toBeUndefined();
    forgetFile(file());
    expect(knownUpload(file())).toBeUndefined();
  });
});

describe('rate', () => {
  it('is unknown at first, then the mean of the last seconds', () => {
    const rate = new Rate();
    rate.add(0, 0);
    rate.add(100, 1000);
    expect(rate.perSecond()).toBeNull();
    rate.add(400, 4000);
    expect(rate.perSecond()).toBe(100);
    for (let s = 5; s <= 20; s += 1) rate.add(400 + (s - 4) * 1000, s * 1000);
    expect(rate.perSecond()).toBe(1000);
  });

  it('begins again when the count goes back', () => {
    const rate = new Rate();
    rate.add(0, 0);
    rate.add(5000, 5000);
    rate.add(1000, 6000);
    expect(rate.perSecond()).toBeNull();
  });

  it('tells the time left', () => {
    expect(secondsLeft(50, 150, 10)).toBe(10);
    expect(secondsLeft(50, 150, null)).toBeNull();
    expect(secondsLeft(50, 150, 0)).toBeNull();
  });
});

describe('tus', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('knows what a failed request was about, also without a body', () => {
    expect(problemOf(0, '')).toEqual({ status: 0, code: 'unreachable' });
    expect(problemOf(401, '')).toMatchObject({ code: 'not_logged_in' });
    expect(problemOf(410, '')).toMatchObject({ code: 'http_410' });
    expect(problemOf(423, '{"code":"upload_busy"}')).toMatchObject({ status: 423, code: 'upload_busy' });
  });

  const begin = (size: number) => {
    const told = { progress: [] as number[], done: vi.fn<(hash: string) => void>(), error: vi.fn<(problem: Problem) => void>() };
    // Only the size counts: the pieces are never read here.
    const large = { size, slice: (from: number, to: number) => ({ from, to: Math.min(to, size) }) } as unknown as File;
    const stop = send('/u/1', large, { csrf: () => 'c', onProgress: (sent) => told.progress.push(sent), onDone: told.done, onError: told.error });
    return { ...told, stop };
  };

  it('asks how far the box is and sends the rest in pieces', () => {
    const sent = FakeRequest.record();
    const { progress, done, error } = begin(2 * pieceBytes);
    expect(sent[0]).toMatchObject({ method: 'HEAD', address: '/u/1' });
    sent[0]!.answer(200, { 'Upload-Offset': '100' });
    expect(sent[1]).toMatchObject({ method: 'PATCH', body: { from: 100, to: 100 + pieceBytes } });
    expect(sent[1]!.headers).toMatchObject({ 'Upload-Offset': '100', 'X-CSRF': 'c', 'Tus-Resumable': '1.0.0' });
    sent[1]!.move(50);
    sent[1]!.answer(204, { 'Upload-Offset': String(100 + pieceBytes) });
    sent[2]!.answer(204, { 'Upload-Offset': String(2 * pieceBytes), 'Samovar-SHA256': 'ab' });
    expect(sent).toHaveLength(3);
    expect(progress).toEqual([150, 100 + pieceBytes, 2 * pieceBytes]);
    expect(done).toHaveBeenCalledWith('ab');
    expect(error).not.toHaveBeenCalled();
  });

  it('sends nothing of a file that is already there', () => {
    const sent = FakeRequest.record();
    const { done } = begin(10);
    sent[0]!.answer(200, { 'Upload-Offset': '10' });
    expect(done).toHaveBeenCalledWith('');
    expect(sent).toHaveLength(1);
  });

  it('reports refusals and dead lines, and never asks for ever', () => {
    const sent = FakeRequest.record();
    const first = begin(10);
    sent[0]!.answer(200, { 'Upload-Offset': '0' });
    sent[1]!.answer(507, {}, '{"code":"disk_full"}');
    expect(first.error).toHaveBeenCalledWith({ status: 507, code: 'disk_full' });
    const second = begin(10);
    sent[2]!.fail();
    expect(second.error).toHaveBeenCalledWith({ status: 0, code: 'unreachable' });
    const third = begin(10);
    sent[3]!.answer(200, { 'Upload-Offset': '0' });
    sent[4]!.answer(204, { 'Upload-Offset': '0' });
    expect(third.error).toHaveBeenCalledOnce();
    const fourth = begin(10);
    sent[5]!.answer(200, {});
    expect(fourth.error).toHaveBeenCalledOnce();
    expect(sent).toHaveLength(6);
  });

  it('says nothing more once stopped', () => {
    const sent = FakeRequest.record();
    const { stop, error, done, progress } = begin(10);
    sent[0]!.answer(200, { 'Upload-Offset': '0' });
    stop();
    expect(sent[1]!.aborted).toBe(true);
    sent[1]!.move(5);
    sent[1]!.answer(204, { 'Upload-Offset': '10' });
    expect([error.mock.calls, done.mock.calls, progress]).toEqual([[], [], []]);
  });
});
