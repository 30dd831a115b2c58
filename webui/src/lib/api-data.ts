// The calls about data, over the one door in api.ts.
import { ApiError, call, json, none, tagged, url, type Problem } from './api';
import { session } from './stores';
import type { Page } from './types';
import type * as D from './types-data';

const id = encodeURIComponent;

// --- Uploads. Creation goes through the usual door, with its dialogs; the bytes go through tus.ts.
const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

export const getUploads = () => json<Page<D.Upload>>('GET', '/uploads', { quiet: true });
export const getUpload = (upload: string) => json<D.Upload>('GET', `/uploads/${id(upload)}`);
export async function createUpload(name: string, length: number): Promise<string> {
  const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Length': String(length), 'Upload-Metadata': `filename ${base64(name)}` };
  const answer = await call('POST', '/uploads', { headers });
  const made = /\/uploads\/([^/?]+)$/.exec(answer.headers.get('Location') ?? '')?.[1];
  if (!made) throw new ApiError({ status: 0, code: 'unknown' });
  return decodeURIComponent(made);
}
export const deleteUpload = (upload: string) => none('DELETE', `/uploads/${id(upload)}`, { headers: { 'Tus-Resumable': '1.0.0' } });
export const inspectUpload = (upload: string, hints: D.Hints) => json<D.Detection>('POST', `/uploads/${id(upload)}:inspect`, { body: hints });

export interface Sending {
  onProgress: (sent: number) => void;
  onDone: (sha256: string) => void;
  onError: (error: ApiError) => void;
}
// Sends what the box does not have yet. The answer stops it; what has arrived stays there.
export async function sendUpload(upload: string, file: File, sending: Sending): Promise<() => void> {
  const { send } = await import('./tus');
  return send(url(`/uploads/${id(upload)}`), file, {
    ...sending,
    csrf: () => session.value?.csrf ?? '',
    onError: (problem: Problem) => sending.onError(new ApiError(problem)),
  });
}

// --- Data sets
export const getFormats = () => json<Page<D.FileFormat>>('GET', '/formats');
export const getDatasets = (bin: boolean) => json<Page<D.Dataset>>('GET', '/datasets', { query: { limit: 200, bin: bin || undefined } });
export const getDataset = (dataset: string) => tagged<D.DatasetDetail>('GET', `/datasets/${id(dataset)}`);
export interface NewDataset {
  upload_id: string;
  name: string;
  hints?: D.Hints;
  columns?: D.ColumnChange[];
}
export const createDataset = (body: NewDataset) => json<D.Operation>('POST', '/datasets', { body, idempotent: true });
export const createSample = () => json<D.Operation>('POST', '/datasets:sample', { body: {}, idempotent: true });
export const patchDataset = (dataset: string, change: { name?: string; description?: string; copies?: number }, etag: string) =>
  none('PATCH', `/datasets/${id(dataset)}`, { body: change, ifMatch: etag });
export const putSchema = (dataset: string, columns: D.ColumnChange[]) => json<D.Operation>('PUT', `/datasets/${id(dataset)}/schema`, { body: { columns } });
export const getProfile = (dataset: string, version: number, target: string) =>
  json<D.Profile>('GET', `/datasets/${id(dataset)}/profile`, { query: { version, target } });
export const getPreview = (dataset: string, version: number) => json<D.Preview>('GET', `/datasets/${id(dataset)}/preview`, { query: { version } });
export const getSchema = (dataset: string, version: number) =>
  json<{ columns: D.SchemaColumn[] }>('GET', `/datasets/${id(dataset)}/schema`, { query: { version } });
export const getShards = (dataset: string) => json<D.ShardMap>('GET', `/datasets/${id(dataset)}/shards`);
export const binDataset = (dataset: string) => none('DELETE', `/datasets/${id(dataset)}`);
export const restoreDataset = (dataset: string) => none('POST', `/datasets/${id(dataset)}:restore`, { body: {} });
export const destroyDataset = (dataset: string) => none('POST', `/datasets/${id(dataset)}:destroy`, { body: {} });
export const grant = (dataset: string, user: string) => none('PUT', `/datasets/${id(dataset)}/grants/${id(user)}`, { body: {} });
export const revoke = (dataset: string, user: string) => none('DELETE', `/datasets/${id(dataset)}/grants/${id(user)}`);

// Files the browser saves by itself, as they come: they may be larger than its memory.
export const downloadAddress = (dataset: string, version: number): string => url(`/datasets/${id(dataset)}/download`, { version });
export const badRowsAddress = (dataset: string, version: number): string => url(`/datasets/${id(dataset)}/bad-rows`, { version });
// The beginning is enough to look at.
const lookBytes = 256 * 1024;
export async function getBadRows(dataset: string, version: number): Promise<string> {
  const answer = await call('GET', `/datasets/${id(dataset)}/bad-rows`, { query: { version } });
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const piece = await reader?.read();
    if (!piece || piece.done) return text;
    text += piece.value;
    if (text.length < lookBytes) continue;
    void reader?.cancel().catch(() => undefined);
    return text.slice(0, text.lastIndexOf('\n') + 1);
  }
}

// --- Operations
export const cancelOperation = (operation: string) => none('POST', `/operations/${id(operation)}:cancel`, { body: {} });
