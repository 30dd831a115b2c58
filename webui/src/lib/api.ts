// The only place that talks to the box. Typed calls; errors arrive as ApiError with the problem document inside.
//
// A 401 on a page that was logged in opens the log-in dialog over it and repeats the call afterwards; a call that
// wants the password again ("reauth_required") does the same with the re-authentication dialog. So pages never lose
// what was typed into them.
import { t, tMaybe } from './messages';
import { clockOffset, refusedWrite, session } from './stores';
import type * as T from './types';
import type { Operation } from './types-data';
import type { Job, Scoring } from './types-models';

export interface Problem {
  type?: string;
  title?: string;
  status: number;
  detail?: string;
  code: string;
  trace_id?: string;
  errors?: { pointer: string; code: string; detail: string }[];
  tries_left?: number;
}

export class ApiError extends Error {
  constructor(
    readonly problem: Problem,
    readonly retryAfter: number = 0,
  ) {
    super(tMaybe(`problem.${problem.code}`, problem.detail || problem.title || t('problem.unknown')));
  }
  get code(): string {
    return this.problem.code;
  }
  get status(): number {
    return this.problem.status;
  }
  // The message for one form field, by JSON pointer.
  field(pointer: string): string | undefined {
    return this.problem.errors?.find((e) => e.pointer === pointer || e.pointer === `#${pointer}`)?.detail;
  }
}

export const cancelled = (error: unknown): boolean => error instanceof ApiError && error.code === 'cancelled';

// For transfers that meet the end of the session outside of a call: asks as a call would.
export const logInAgain = (): Promise<boolean> => askLogin();

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : t('problem.unknown');
}

// auth.ts supplies these; they resolve to false when the person declines.
type Prompt = () => Promise<boolean>;
let askLogin: Prompt = () => Promise.resolve(false);
let askReauth: Prompt = () => Promise.resolve(false);
export function setPrompts(login: Prompt, reauth: Prompt): void {
  askLogin = login;
  askReauth = reauth;
}

type Query = Record<string, string | number | boolean | undefined | null>;
interface Options {
  body?: unknown;
  query?: Query;
  ifMatch?: string;
  headers?: Record<string, string>;
  idempotent?: boolean; // creating calls: a retry after a lost answer must not create twice
  quiet?: boolean; // never opens a dialog
  signal?: AbortSignal;
}

const base = '/api/v1';

export function url(path: string, query?: Query): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') params.set(key, String(value));
  }
  const text = params.toString();
  return `${base}${path}${text ? `?${text}` : ''}`;
}

async function problemOf(response: Response): Promise<ApiError> {
  let problem: Problem = { status: response.status, code: `http_${response.status}` };
  try {
    const body = (await response.json()) as Partial<Problem>;
    problem = { ...problem, ...body, code: body.code ?? problem.code, status: response.status };
  } catch {
    // Not JSON: a proxy or a dying server. The status alone must do.
  }
  return new ApiError(problem, Number(response.headers.get('Retry-After')) || 0);
}

async function once(method: string, path: string, options: Options, key: string): Promise<Response> {
  const headers = new Headers({ Accept: 'application/json', ...options.headers });
  if (options.body !== undefined) headers.set('Content-Type', 'application/json');
  if (method !== 'GET' && session.value) headers.set('X-CSRF', session.value.csrf);
  if (options.ifMatch) headers.set('If-Match', options.ifMatch);
  if (key) headers.set('Idempotency-Key', key);
  let response: Response;
  try {
    response = await fetch(url(path, options.query), {
      method,
      headers,
      body: options.body === undefined || options.body instanceof Blob ? options.body : JSON.stringify(options.body),
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal: options.signal,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError({ status: 0, code: 'unreachable' });
  }
  const date = Date.parse(response.headers.get('Date') ?? '');
  // The header has whole seconds; a smaller difference is no difference.
  if (date && Math.abs(date - Date.now()) > 2000) clockOffset.value = date - Date.now();
  if (!response.ok) {
    const error = await problemOf(response);
    if (error.code === 'no_quorum') refusedWrite.value = error.problem.detail ?? error.message;
    throw error;
  }
  if (method !== 'GET' && session.value) refusedWrite.value = '';
  return response;
}

// For the api-….ts files beside this one, too.
export async function call(method: string, path: string, options: Options = {}): Promise<Response> {
  const key = options.idempotent ? crypto.randomUUID() : '';
  let prompted = 0;
  for (;;) {
    const csrf = session.value?.csrf;
    try {
      return await once(method, path, options, key);
    } catch (error) {
      if (!(error instanceof ApiError) || options.quiet || prompted >= 2) throw error;
      let again: boolean;
      if (error.status === 401 && error.code === 'not_logged_in') again = await askLogin();
      else if (error.code === 'reauth_required') again = await askReauth();
      // Another tab logged in anew: the cookie is new and our token is old. By now the store may have it.
      else if (error.code === 'csrf' && session.value?.csrf !== csrf) again = true;
      else throw error;
      if (!again) throw new ApiError({ status: 0, code: 'cancelled' });
      prompted += 1;
    }
  }
}

export async function json<R>(method: string, path: string, options?: Options): Promise<R> {
  return (await (await call(method, path, options)).json()) as R;
}
interface Tagged<R> {
  value: R;
  etag: string;
}
export async function tagged<R>(method: string, path: string, options?: Options): Promise<Tagged<R>> {
  const response = await call(method, path, options);
  return { value: (await response.json()) as R, etag: response.headers.get('ETag') ?? '' };
}
export async function none(method: string, path: string, options?: Options): Promise<void> {
  await call(method, path, options);
}
const id = encodeURIComponent;

// --- Getting in
export const getSetup = (signal?: AbortSignal) => json<T.SetupInfo>('GET', '/setup', { quiet: true, signal });
export const unlock = (passphrase: string) => none('POST', '/unlock', { body: { passphrase }, quiet: true });
export const getSession = () => json<T.Session>('GET', '/session', { quiet: true });
export const login = (username: string, password: string) =>
  json<T.Session>('POST', '/session', { body: { username, password, transport: 'cookie' }, quiet: true });
export const logout = () => none('DELETE', '/session', { quiet: true });
export const reauth = (password: string) => json<T.Session>('POST', '/session:reauth', { body: { password }, quiet: true });

// --- The box and its vital signs
export const getCluster = () => tagged<T.Cluster>('GET', '/cluster');
export const getAlerts = () => json<T.Page<T.Alert>>('GET', '/alerts');
export const getNodes = () => json<T.Page<T.BoxNode>>('GET', '/nodes');
export const getNode = (node: string) => json<T.BoxNode>('GET', `/nodes/${id(node)}`);
export const getHistory = (query: { node: string; metric: string; range?: string; from?: string; to?: string }, signal?: AbortSignal) =>
  json<T.History>('GET', '/metrics/history', { query, signal });

// --- What every page shows of the work going on; the rest is in the api-….ts files, which only their pages load.
export const getOperations = () => json<T.Page<Operation>>('GET', '/operations', { quiet: true });
export const getJobs = () => json<T.Page<Job>>('GET', '/jobs', { query: { limit: 20 }, quiet: true });
export const getScorings = () => json<T.Page<Scoring>>('GET', '/scorings', { query: { limit: 20 }, quiet: true });
export const countOf = async (list: 'datasets' | 'models'): Promise<number> => (await json<T.Page<unknown>>('GET', `/${list}`, { query: { limit: 1 }, quiet: true })).items.length;

// --- The event stream; events.ts decides which tab opens it.
export const openEvents = (): EventSource => new EventSource(url('/events'));
