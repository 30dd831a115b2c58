// The API's resources as the browser sees them: field for field what /openapi.json says.

export type Phase = 'new' | 'joining' | 'removed' | 'locked' | 'starting' | 'ready';
export type Role = 'admin' | 'analyst' | 'viewer' | 'auditor' | 'service';
export const roles: readonly Role[] = ['admin', 'analyst', 'viewer', 'auditor', 'service'];

export interface SetupInfo {
  phase: Phase;
  version: string;
  node: { id: string; hostname: string; model: string };
  api: string;
  fingerprint: string;
  login_banner?: string;
  // While the box belongs to nobody. The code only where the page is opened on the box itself.
  join?: { state: 'waiting' | 'code' | 'done'; code: string | null; cluster_name: string | null; short_id: string };
}

export interface SetupRequest {
  code: string;
  box_name: string;
  time_zone: string;
  admin: { username: string; display_name: string; password: string };
  unlock: { mode: 'passphrase'; passphrase: string } | { mode: 'key_file' };
}

export interface Session {
  id: string;
  user: { id: string; username: string; display_name: string; role: Role };
  csrf: string;
  kind: 'cookie' | 'bearer';
  created_at: string;
  expires_at: string;
  idle_expires_at: string;
  reauth_until: string | null;
  last_login: { at: string; address: string } | null;
}

export type HealthState = 'ok' | 'warning' | 'critical';

export interface Cluster {
  id: string;
  name: string;
  created_at: string;
  version: string;
  phase: Phase;
  time_zone: string;
  health: { state: HealthState; summary: string };
  nodes: { total: number; up: number };
  power: { watts: number | null; estimated: boolean; energy_today_wh: number | null };
  storage: { total_bytes: number; free_bytes: number };
  time: string;
}

export interface Alert {
  id: string;
  severity: 'info' | 'warning' | 'critical';
  title: string;
  detail: string;
  remedy: string;
  since: string;
}

export interface Sample {
  t: string | number;
  cpu: number | null;
  load1: number | null;
  mem_used_bytes: number | null;
  mem_total_bytes: number | null;
  disk_used_bytes: number | null;
  disk_total_bytes: number | null;
  watts: number | null;
  watts_estimated: boolean;
  temp_max_c: number | null;
  temp_max_name: string | null;
  gpu_load: number | null;
  net_rx_bps: number | null;
  net_tx_bps: number | null;
  process_rss_bytes: number | null;
  process_cpu: number | null;
}

export type NodeState = 'up' | 'unreachable' | 'draining' | 'removed';

export interface BoxNode {
  id: string;
  name: string;
  given?: string; // the name as the box told it, where labels.ts changed it
  hostname: string;
  model: string;
  state: NodeState;
  self: boolean; // it answers this page
  leader: boolean;
  voice: 'voter' | 'standby' | null;
  url: string | null; // of its own dashboard
  heard_at: string | null;
  rtt_ms: number | null;
  disk: { total: number; free: number } | null;
  version: string;
  arch: string;
  cores: number | null;
  memory_bytes: number | null;
  disk_bytes: number;
  started_at: string | null;
  uptime_s: number | null;
  addresses: string[];
  // Not known of a node that was not heard since the one that answers started.
  sensors: {
    power: 'ina3221' | 'rapl' | 'estimate' | 'none';
    power_note: string;
    temperatures: { name: string; celsius: number | null }[];
    rails: { name: string; watts: number | null }[];
    gpu: { load: number | null; clock_hz: number | null } | null;
  } | null;
  sandbox: 'full' | 'partial' | 'off' | null;
  sample: Sample | null;
}

export interface History {
  node: string;
  step_s: number;
  start: string | number;
  end: string | number;
  names: string[];
  cols: (number | null)[][];
}

export interface User {
  id: string;
  username: string;
  display_name: string;
  role: Role;
  disabled: boolean;
  locked_until: string | null;
  created_at: string;
  last_login_at: string | null;
  node_key: 'held' | 'ready' | 'none' | null;
  etag: string;
}

export type Scope = 'read' | 'write' | 'predict' | 'metrics';

export interface Token {
  id: string;
  name: string;
  user_id: string;
  username: string;
  scopes: Scope[];
  cidr: string | null;
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
}

export interface SessionRow {
  id: string;
  user_id: string;
  username: string;
  kind: 'cookie' | 'bearer';
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  address: string;
  user_agent: string;
  current: boolean;
}

export interface AuditEntry {
  seq: number;
  time: string;
  actor: string;
  role: string;
  auth: string;
  address: string;
  action: string;
  object: string;
  result: string;
  details: unknown;
  hash: string;
}

export interface AuditVerdict {
  ok: boolean;
  entries: number;
  head_hash: string;
  first_bad_seq: number | null;
  message: string;
}

export interface GeneralSettings {
  login_banner: string;
  idle_minutes: number;
}

export interface TlsSettings {
  fingerprint_sha256: string;
  not_after: string;
  names: string[];
  web_ca_fingerprint: string;
}

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}
