// The calls of a box that belongs to nobody yet, over the one door in api.ts.
import { json, none } from './api';
import type * as T from './types';
import type { Doctor } from './types-cluster';

export const checkSetupCode = (code: string) => none('POST', '/setup:check', { body: { code }, quiet: true });
export const postSetup = (body: T.SetupRequest) =>
  json<{ cluster: { id: string; name: string } }>('POST', '/setup', { body, quiet: true });
export const joinByWords = (setup_code: string, words: string, ca_digest: string) =>
  none('POST', '/setup:join', { body: { setup_code, words, ca_digest: ca_digest || undefined }, quiet: true });
export const getOwnDoctor = () => json<Doctor>('GET', '/doctor', { quiet: true });
