// Uploads, data sets and operations as the browser sees them: field for field what /openapi.json says.

export interface Upload {
  id: string;
  file_name: string;
  length: number;
  offset: number;
  complete: boolean;
  sha256: string | null;
  created_at: string;
  expires_at: string;
  owner_id: string;
}

export type ColumnType = 'real' | 'integer' | 'boolean' | 'category' | 'text' | 'time' | 'sparse';
// What a person may choose; "sparse" belongs to files that are written so.
export const columnTypes: readonly ColumnType[] = ['integer', 'real', 'boolean', 'category', 'text', 'time'];

export interface ParseOptions {
  format: string;
  compression: string;
  encoding: string;
  delimiter: string;
  quote: string | null;
  header: boolean;
  decimal: string;
  thousands: boolean;
  missing: string[];
  skip_lines: number;
}

export interface Hints {
  format?: string;
  encoding?: string;
  delimiter?: string;
  header?: boolean;
  decimal?: string;
  skip_lines?: number;
}

export interface FoundColumn {
  name: string;
  type: ColumnType;
  sensitive: boolean;
  evidence: string;
  examples: string[];
  missing: number;
  constant: boolean;
  identifier: boolean;
  sensitive_reason: string;
}

export interface Detection {
  options: ParseOptions;
  columns: FoundColumn[];
  sample_rows: number;
  notes: string[];
}

export interface ColumnChange {
  column: string;
  rename?: string;
  type?: ColumnType;
  sensitive?: boolean;
}

export interface SchemaColumn {
  name: string;
  type: ColumnType;
  sensitive: boolean;
}

export interface Dataset {
  id: string;
  name: string;
  description: string;
  owner_id: string;
  owner: string;
  created_at: string;
  version: number;
  rows: number;
  bad_rows: number;
  columns: number;
  stored_bytes: number;
  source_bytes: number;
  binned_at: string | null;
  purge_at: string | null;
  granted: { user_id: string; username: string }[];
  copies: number; // 0: as many as the cluster finds right
  may_read_rows: boolean;
  damaged: boolean;
  revision: number;
}

export interface DatasetDetail extends Dataset {
  schema: { columns: SchemaColumn[] };
  options: ParseOptions | null;
  notes: string[];
  source: { file_name: string; sha256: string; bytes: number; kept: boolean };
  versions: { version: number; created_at: string; created_by: string; rows: number }[];
  shards: number;
}

export interface Preview {
  columns: SchemaColumn[];
  rows: (string | null)[][];
}

export interface ProfileColumn {
  name: string;
  type: ColumnType;
  missing: number;
  distinct?: number;
  distinct_exact?: boolean;
  min?: number | string | null;
  max?: number | string | null;
  mean?: number | null;
  sd?: number | null;
  quantiles?: Record<string, number | string | null>;
  histogram?: { edges: (number | string)[]; counts: number[] };
  levels?: { value: string; count: number }[];
  other?: number;
  length?: { min?: number; max?: number; mean: number };
  correlation?: number | null;
}

export interface Profile {
  rows: number;
  bad_rows: number;
  columns: ProfileColumn[];
  target?: string;
}

export interface ShardRow {
  number: number;
  rows: number;
  blocks: number;
  stored_bytes: number;
  hash: string;
  nodes: Holder[];
  damaged: boolean;
}

export interface Holder {
  id: string;
  name: string;
  state: 'up' | 'draining' | 'unreachable'; // of the node
}

export interface ShardMap {
  items: ShardRow[];
  copies: number;
  tolerates: number;
  copies_wanted: number;
  copies_now: number; // of the piece that has the fewest that can be reached
  may_lose: number;
}

export type OperationState = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';
export const operationSteps = ['checking', 'reading', 'placing'] as const;

export interface Operation {
  id: string;
  kind: 'ingest' | 'version' | 'scrub';
  state: OperationState;
  title: string;
  owner_id: string;
  dataset_id: string | null;
  version: number;
  step: string;
  done_bytes: number;
  total_bytes: number;
  rows: number;
  bad_rows: number;
  error: string | null;
  queue_position: number;
  created_at: string;
  ended_at: string | null;
}

export interface FileFormat {
  id: string;
  name: string;
  extensions: string[];
  notes: string;
  supported: boolean;
}
