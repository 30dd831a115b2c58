// The calls about jobs, models and predictions, over the one door in api.ts.
import { call, json, none, tagged, url } from './api';
import type { Page } from './types';
import type * as M from './types-models';

const id = encodeURIComponent;
const name = (model: string): string => `/models/${id(model)}`;
const versionOf = (model: string, version: number): string => `${name(model)}/versions/${version}`;

// --- Jobs
export const getAlgorithms = () => json<{ items: M.Algorithm[] }>('GET', '/algorithms');
export const checkJob = (body: M.JobSpec) => json<M.SpecCheck>('POST', '/jobs:check', { body });
export const estimateJob = (body: M.JobSpec) => json<M.JobEstimate>('POST', '/jobs:estimate', { body });
export const createJob = (body: M.JobSpec) => json<M.Job>('POST', '/jobs', { body, idempotent: true });
export const listJobs = (state: string, cursor?: string) => json<Page<M.Job>>('GET', '/jobs', { query: { state, limit: 50, cursor } });
export const getJob = (job: string) => json<M.Job>('GET', `/jobs/${id(job)}`);
export type JobVerb = 'pause' | 'resume' | 'cancel' | 'retry';
export const actOnJob = (job: string, verb: JobVerb) => json<M.Job>('POST', `/jobs/${id(job)}:${verb}`, { body: {}, idempotent: true });
export const protectJob = (job: M.Job, on: boolean) => json<M.Job>('PATCH', `/jobs/${id(job.id)}`, { body: { protected: on }, ifMatch: `"${job.revision}"` });
export const prioritizeJob = (job: string, priority: number) => json<M.Job>('PATCH', `/jobs/${id(job)}`, { body: { priority } });
export const deleteJob = (job: string) => none('DELETE', `/jobs/${id(job)}`);
export const getMetrics = (job: string) => json<M.JobCurves>('GET', `/jobs/${id(job)}/metrics`);
export const getLogs = (job: string) => json<{ items: M.LogLine[] }>('GET', `/jobs/${id(job)}/logs`, { query: { limit: 500 } });

// --- Models
export const getModels = () => json<Page<M.Model>>('GET', '/models', { query: { limit: 200 } });
export const getModel = (model: string) => tagged<M.ModelDetail>('GET', name(model));
export const patchModel = (model: string, change: { description?: string; owner_id?: string }, etag: string) => none('PATCH', name(model), { body: change, ifMatch: etag });
export const protectVersion = (model: string, version: number, on: boolean) => none('PATCH', versionOf(model, version), { body: { protected: on } });
export const deleteVersion = (model: string, version: number) => none('DELETE', versionOf(model, version));
export const getEvaluation = (model: string, version: number) => json<M.Evaluation>('GET', `${versionOf(model, version)}/evaluation`);
export const promote = (model: string, version: number) => none('POST', `${versionOf(model, version)}:promote`, { body: {} });
export const rollback = (model: string) => none('POST', `${name(model)}:rollback`, { body: {} });
export const compare = (a: string, b: string) => json<M.Comparison>('GET', '/models:compare', { query: { a, b } });
export const grantModel = (model: string, user: string) => none('PUT', `${name(model)}/grants/${id(user)}`, { body: {} });
export const revokeModel = (model: string, user: string) => none('DELETE', `${name(model)}/grants/${id(user)}`);
export const importModel = (model: string, file: Blob) => json<M.ModelVersion>('POST', '/models:import', { body: file, query: { name: model } });

export interface Exported {
  content: Blob;
  fileName: string;
  sha256: string;
}
export async function exportModel(model: string, version: number, format: string, reason: string): Promise<Exported> {
  const answer = await call('POST', `${versionOf(model, version)}:export`, { body: { format, reason }, headers: { Accept: '*/*' } });
  const named = /filename="?([^";]+)/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1];
  return { content: await answer.blob(), fileName: named ?? `${model}.${format}`, sha256: answer.headers.get('Samovar-SHA256') ?? '' };
}

// --- Predictions. Inputs travel in the body: an address ends up in logs and histories.
export const predict = (model: string, version: number, row: Record<string, unknown>) =>
  json<M.PredictAnswer>('POST', `${name(model)}:predict`, { body: { rows: [row], version, reasons: true } });
export interface NewScoring {
  model: string;
  version: number;
  dataset_id?: string;
  upload_id?: string;
}
export const createScoring = (body: NewScoring) => json<M.Scoring>('POST', '/scorings', { body, idempotent: true });
export const getScoring = (scoring: string) => json<M.Scoring>('GET', `/scorings/${id(scoring)}`);
export const deleteScoring = (scoring: string) => none('DELETE', `/scorings/${id(scoring)}`);
export const resultAddress = (scoring: string): string => url(`/scorings/${id(scoring)}/result`);
