// The calls about people, keys, settings and the audit log, over the one door in api.ts.
import { call, json, none, tagged } from './api';
import type * as T from './types';

const id = encodeURIComponent;

// --- People and keys
export const getUsers = (cursor?: string) => json<T.Page<T.User>>('GET', '/users', { query: { limit: 200, cursor } });
// Never asks for a password: only the overview's list wants to know.
export const countAdmins = async (): Promise<number> =>
  (await json<T.Page<T.User>>('GET', '/users', { query: { limit: 200 }, quiet: true })).items.filter((u) => u.role === 'admin' && !u.disabled).length;
export const createUser = (user: { username: string; display_name: string; role: T.Role; password: string }) =>
  json<T.User>('POST', '/users', { body: user, idempotent: true });
export const patchUser = (user: T.User, change: { display_name?: string; role?: T.Role; disabled?: boolean }) =>
  json<T.User>('PATCH', `/users/${id(user.id)}`, { body: change, ifMatch: user.etag });
export const deleteUser = (user: T.User) => none('DELETE', `/users/${id(user.id)}`, { ifMatch: user.etag });
export const setUserPassword = (user: T.User, password: string) =>
  none('POST', `/users/${id(user.id)}:set-password`, { body: { password } });
export const unlockUser = (user: T.User) => none('POST', `/users/${id(user.id)}:unlock`, { body: {} });

export const allowJoins = (user: T.User, password: string) => json<T.User>('POST', `/users/${id(user.id)}:allow-joins`, { body: { password } });
export const forbidJoins = (user: T.User) => json<T.User>('POST', `/users/${id(user.id)}:forbid-joins`, { body: {} });

export const getTokens = (all: boolean) => json<T.Page<T.Token>>('GET', '/tokens', { query: { limit: 200, all: all || undefined } });
export const createToken = (token: { name: string; scopes: T.Scope[]; expires_days: number; cidr?: string }) =>
  json<T.Token & { token: string }>('POST', '/tokens', { body: token, idempotent: true });
export const deleteToken = (token: string) => none('DELETE', `/tokens/${id(token)}`);
export const getSessions = (all: boolean) =>
  json<T.Page<T.SessionRow>>('GET', '/sessions', { query: { limit: 200, all: all || undefined } });
export const deleteSession = (row: string) => none('DELETE', `/sessions/${id(row)}`);

// --- The audit log
export interface AuditFilter {
  actor?: string;
  action?: string;
  q?: string;
  from?: string;
  to?: string;
}
export const getAudit = (filter: AuditFilter, cursor?: string) =>
  json<T.Page<T.AuditEntry>>('GET', '/audit', { query: { limit: 50, cursor, ...filter } });
export const verifyAudit = () => json<T.AuditVerdict>('POST', '/audit:verify', { body: {} });
export const exportAudit = async (filter: AuditFilter): Promise<Blob> =>
  (await call('GET', '/audit/export', { query: { ...filter } })).blob();

// --- Settings
export const getGeneral = () => tagged<T.GeneralSettings>('GET', '/settings/general');
export const putGeneral = (settings: T.GeneralSettings, etag: string) =>
  tagged<T.GeneralSettings>('PUT', '/settings/general', { body: settings, ifMatch: etag });
export const getTls = () => json<T.TlsSettings>('GET', '/settings/tls');
export const patchCluster = (change: { name?: string; time_zone?: string }, etag: string) =>
  tagged<T.Cluster>('PATCH', '/cluster', { body: change, ifMatch: etag });

// --- Oneself
export const changePassword = (current_password: string, new_password: string) =>
  none('POST', '/session:password', { body: { current_password, new_password } });
