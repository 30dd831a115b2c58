import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as api from '../../src/lib/api';
import * as access from '../../src/lib/api-access';
import { clockOffset, session } from '../../src/lib/stores';
import { makeSession } from '../support/fakes';

interface Call {
  url: string;
  method: string;
  headers: Headers;
  body: string | undefined;
}
let calls: Call[] = [];
let answers: (() => Response | Promise<Response>)[] = [];

const ok = (body: unknown, headers: Record<string, string> = {}) => () => new Response(JSON.stringify(body), { status: 200, headers });
const problem = (status: number, code: string, more: object = {}, headers: Record<string, string> = {}) => () =>
  new Response(JSON.stringify({ code, detail: `detail of ${code}`, ...more }), { status, headers });

beforeEach(() => {
  calls = [];
  answers = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    calls.push({ url, method: init.method ?? '', headers: new Headers(init.headers), body: init.body as string | undefined });
    const next = answers.shift();
    return next ? Promise.resolve(next()) : Promise.reject(new TypeError('no answer planned'));
  });
  session.value = makeSession();
});
afterEach(() => {
  vi.unstubAllGlobals();
  api.setPrompts(() => Promise.resolve(false), () => Promise.resolve(false));
  session.value = null;
  clockOffset.value = 0;
});

describe('api', () => {
  it('sends the CSRF value with what changes something, and not with reads', async () => {
    answers = [ok({ items: [], next_cursor: null }), () => new Response(null, { status: 204 })];
    await api.getNodes();
    await access.deleteToken('tok 1');
    expect(calls[0]!.headers.has('X-CSRF')).toBe(false);
    expect(calls[1]!.headers.get('X-CSRF')).toBe('csrf-1');
    expect(calls[1]!.url).toBe('/api/v1/tokens/tok%201');
  });

  it('keeps credentials out of the address', async () => {
    answers = [ok(makeSession())];
    await api.login('ada', 'secret words');
    expect(calls[0]!.url).toBe('/api/v1/session');
    expect(calls[0]!.headers.get('Content-Type')).toBe('application/json');
  });

  it('turns a problem document into an error with its fields', async () => {
    answers = [problem(422, 'validation', { errors: [{ pointer: '/name', code: 'format', detail: 'too long' }] })];
    const error = await access.patchCluster({ name: 'x' }, '"1"').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(api.ApiError);
    expect((error as api.ApiError).field('/name')).toBe('too long');
    expect((error as api.ApiError).message).toBe('detail of validation');
    expect(calls[0]!.headers.get('If-Match')).toBe('"1"');
  });

  it('reports an unreachable box as such', async () => {
    const error = (await api.getNodes().catch((e: unknown) => e)) as api.ApiError;
    expect(error.code).toBe('unreachable');
  });

  it('survives an answer that is not JSON', async () => {
    answers = [() => new Response('<html>', { status: 502 })];
    const error = (await api.getNodes().catch((e: unknown) => e)) as api.ApiError;
    expect(error.code).toBe('http_502');
  });

  it('tells how long to wait', async () => {
    answers = [problem(429, 'locked_out', {}, { 'Retry-After': '42' })];
    const error = (await api.login('ada', 'x').catch((e: unknown) => e)) as api.ApiError;
    expect(error.retryAfter).toBe(42);
  });

  it('asks to log in again and repeats the call with the new CSRF value', async () => {
    answers = [problem(401, 'not_logged_in'), () => new Response(null, { status: 204 })];
    api.setPrompts(
      () => {
        session.value = makeSession({ csrf: 'csrf-2' });
        return Promise.resolve(true);
      },
      () => Promise.resolve(false),
    );
    await access.deleteToken('t');
    expect(calls).toHaveLength(2);
    expect(calls[1]!.headers.get('X-CSRF')).toBe('csrf-2');
  });

  it('uses the same idempotency key when it repeats a creating call', async () => {
    answers = [problem(403, 'reauth_required'), ok({ id: 'u' })];
    api.setPrompts(
      () => Promise.resolve(false),
      () => Promise.resolve(true),
    );
    await access.createUser({ username: 'a', display_name: '', role: 'viewer', password: 'p' });
    const keys = calls.map((call) => call.headers.get('Idempotency-Key'));
    expect(keys[0]).toBeTruthy();
    expect(keys[1]).toBe(keys[0]);
  });

  it('is cancelled when the person declines', async () => {
    answers = [problem(403, 'reauth_required')];
    const error = await access.deleteToken('t').catch((e: unknown) => e);
    expect(api.cancelled(error)).toBe(true);
  });

  it('never prompts for calls of the log-in page', async () => {
    const prompt = vi.fn<() => Promise<boolean>>(() => Promise.resolve(true));
    api.setPrompts(prompt, prompt);
    answers = [problem(401, 'not_logged_in')];
    await api.getSession().catch(() => undefined);
    expect(prompt).not.toHaveBeenCalled();
  });

  it('learns the clock of the box', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    answers = [ok({}, { Date: date })];
    await api.getSetup();
    expect(Math.abs(clockOffset.value - 3_600_000)).toBeLessThan(5000);
  });

  it('leaves empty values out of the query', () => {
    expect(api.url('/audit', { q: '', actor: 'ada', cursor: undefined, limit: 50 })).toBe('/api/v1/audit?actor=ada&limit=50');
  });
});
