// Jobs, models, predictions and scorings as the browser sees them: field for field what /openapi.json says.
import type { ColumnType } from './types-data';

export type JobState = 'queued' | 'running' | 'paused' | 'done' | 'failed' | 'cancelled';

export type SplitKind = 'random' | 'group' | 'time' | 'folds';
export const splitKinds: readonly SplitKind[] = ['random', 'group', 'time', 'folds'];

export type PowerMode = 'full' | 'gentle';
export type DeviceChoice = 'auto' | 'cpu' | 'gpu';

// What is asked for. Everything but the first four has a default.
export interface JobSpec {
  kind: string;
  name: string;
  dataset: string;
  target: string;
  dataset_version?: number;
  inputs?: string[];
  ignore?: string[];
  weight?: string;
  offset?: string;
  exposure?: string;
  split?: { kind?: SplitKind; column?: string; valid?: number; test?: number; folds?: number };
  features?: Record<string, unknown>;
  parameters?: Record<string, unknown>;
  strategy?: Record<string, unknown>;
  nodes?: { min?: number; max?: number };
  on_lost_node?: string;
  priority?: number | 'low' | 'normal' | 'high';
  device?: DeviceChoice;
  power?: { mode?: PowerMode; watts?: number; finish_by?: string };
  seed?: number;
}

export interface SpecFault {
  pointer: string;
  code: string;
  detail: string;
}
export interface SpecCheck {
  spec: JobSpec;
  faults: SpecFault[];
  advice: string[];
}
export interface JobEstimate {
  seconds: number;
  watt_hours: number;
  memory_bytes: number;
  basis: string;
  watts?: number | null;
  deadline?: string | null;
  ends_at?: string | null;
  in_time?: boolean | null;
  needed_watts?: number | null;
}

export type WorkerState = 'preparing' | 'working' | 'done' | 'lost';
// One worker of a job, on one node; figures are null until they are known.
export interface JobWorker {
  number: number;
  node_id: string;
  node: string | null;
  state: WorkerState;
  lead: boolean;
  blocks: number;
  rows: number;
  rows_done: number;
  samples_per_second: number | null;
  loss: number | null;
  bytes_sent: number;
  bytes_received: number;
  wait_seconds: number | null;
  staleness: number | null;
  watts: number | null;
  watts_estimated: boolean;
  joules: number;
  joules_error?: number;
  since: string;
  error: string | null;
}
export interface JobEvent {
  seq: number;
  at: string;
  kind: string;
  node_id: string | null;
  text: string;
}
// What a job asked for of the power, and how it stands with it.
export interface JobPower {
  mode: PowerMode;
  watts: number | null;
  finish_by: string | null;
  deadline: string | null;
  granted_watts: number | null;
  late: boolean;
  needed_watts: number | null;
}
// What a node computes or computed on.
export interface JobDevice {
  node_id: string;
  node: string | null;
  device: string | null;
  note: string | null; // why not, or no longer, on a GPU
}
export interface Job {
  id: string;
  kind: string;
  name: string;
  owner_id: string;
  owner: string;
  dataset_id: string;
  dataset: string | null; // its name, for those who may see it; events do not tell it
  dataset_version: number;
  target: string;
  spec: JobSpec;
  state: JobState;
  step: string;
  share: number;
  rows: number;
  pass: number;
  rows_per_second: number;
  seconds: number;
  seconds_left: number | null;
  watt_hours: number;
  watt_hours_error?: number;
  energy_estimated: boolean;
  box_watts?: number | null;
  power?: JobPower | null;
  waiting_for?: string | null;
  workers?: JobWorker[];
  devices?: JobDevice[];
  events?: JobEvent[];
  metric: string;
  best: number | null;
  queue_position: number;
  priority: number;
  error: string | null;
  attempt: number;
  model: string | null;
  model_version: number | null;
  summary?: { seconds_to_target?: number; joules_to_target?: number; in_time?: boolean; finished_at?: string };
  protected: boolean;
  checkpoint_step: number;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  revision: number;
}

export interface Columnar {
  names: string[];
  cols: (number | null)[][];
}
export interface WorkerCurves extends Columnar {
  number: number;
  node_id: string;
}
export interface JobCurves extends Columnar {
  workers?: WorkerCurves[];
}
export interface LogLine {
  seq: number;
  at: string;
  level: string;
  text: string;
}

// A part of JSON Schema: what the form of an algorithm is drawn from.
export interface ParameterSchema {
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  oneOf?: { const: unknown; title?: string; description?: string }[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  properties?: Record<string, ParameterSchema>;
  'x-advanced'?: boolean;
}
export interface Algorithm {
  id: string;
  name: string;
  summary: string;
  targets: string[];
  parameters: ParameterSchema;
  strategy?: ParameterSchema;
  power?: ParameterSchema;
}

export interface SignatureInput {
  name: string;
  type: ColumnType;
  levels?: string[] | null;
  min?: number | string | null;
  max?: number | string | null;
  example?: unknown;
}
export interface Signature {
  inputs: SignatureInput[];
  target?: string | { name: string; type?: string };
}

export type Stage = 'candidate' | 'production' | 'archived';
export type Headline = Record<string, unknown>;
export interface ModelVersion {
  version: number;
  stage: Stage;
  protected: boolean;
  created_at: string;
  created_by: string;
  job_id: string | null;
  dataset_id: string | null;
  dataset: string | null;
  dataset_version: number | null;
  dataset_hash: string;
  code_version: string;
  headline: Headline | null;
  stored_bytes: number;
  spec: JobSpec | null;
  signature: Signature | null;
}
export interface Model {
  name: string;
  description: string;
  kind: string;
  owner_id: string;
  owner: string;
  version: number;
  serving: number | null;
  served_before: number | null;
  granted: { user_id: string; username: string }[];
  created_at: string;
  may_use: boolean;
  may_export: boolean;
  may_manage: boolean;
  revision: number;
  headline: Headline | null;
  target: string;
}
export interface ModelDetail extends Model {
  versions: ModelVersion[];
}

export interface Measured {
  value: number;
  low?: number | null;
  high?: number | null;
}
export type Metrics = Record<string, Measured | number | null>;
export interface Importance {
  input: string;
  standardised?: number | null;
  permutation?: number | null;
}
export interface Coefficient {
  input: string;
  level?: string | null;
  estimate: number;
  se?: number | null;
  z?: number | null;
  p?: number | null;
  low?: number | null;
  high?: number | null;
}
export interface ThresholdRow {
  threshold: number;
  tp: number;
  fp: number;
  tn: number;
  fn: number;
}
export interface Evaluation {
  task: 'binary' | 'classes' | 'number' | 'count';
  rows: { train: number; valid: number; test: number };
  metrics: { test?: Metrics; valid?: Metrics; train?: Metrics };
  baseline?: Record<string, number | null>;
  roc?: [number, number][];
  pr?: [number, number][];
  calibration?: { low: number; high: number; rows: number; predicted: number; observed: number }[];
  lift?: { share: number; lift: number }[];
  thresholds?: ThresholdRow[];
  confusion?: { classes: string[]; counts: number[][] };
  subgroups?: { input: string; level: string; rows: number; metrics: Metrics }[];
  importance?: Importance[];
  coefficients?: Coefficient[];
  intercept?: unknown;
  curve?: { step: number; rows: number; train_loss: number | null; valid_loss: number | null }[];
  leakage?: string[];
  notes?: string[];
}

export interface Comparison {
  differences: { path: string; a: unknown; b: unknown }[];
}

export interface Reason {
  input: string;
  value: string | number | boolean | null;
  contribution: number;
}
export interface Prediction {
  value: number;
  label?: string;
  probabilities?: number[];
  reasons?: Reason[];
}
export interface InputWarning {
  code: string;
  input: string;
  row: number | null;
  detail: string;
}
export interface PredictAnswer {
  model: string;
  version: number;
  classes: string[] | null;
  predictions: Prediction[];
  warnings: InputWarning[];
}

export interface Scoring {
  id: string;
  owner_id: string;
  model: string;
  version: number;
  dataset_id: string | null;
  upload_id: string | null;
  state: JobState;
  rows: number;
  rows_total: number;
  result_bytes: number;
  error: string | null;
  warnings: InputWarning[];
  created_at: string;
  ended_at: string | null;
}
