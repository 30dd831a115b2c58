// Boxes that join, leave and reach each other, as the browser sees them: field for field what /openapi.json says.

export interface Join {
  id: string;
  node_id: string;
  // What the other box says of itself: nothing of it is proven before the code is.
  node: { hostname: string; model: string; arch: string; memory_bytes: number; disk_bytes: number; clock_skew_s: number };
  cluster_name: string;
  expires_at: string;
  tries_left: number;
}

export type PeerState = 'waiting' | 'joining' | 'code_needed' | 'blocked' | 'other_cluster' | 'duplicate_id' | 'member_elsewhere';

export interface Peer {
  id: string;
  short_id: string;
  hostname: string;
  model: string;
  version: string;
  address: string;
  interface: string;
  multicast: boolean;
  state: PeerState;
  detail: string;
  first_seen: string;
  last_seen: string;
  join: Join | null;
}

export interface Peers {
  items: Peer[];
  blocked: string[];
}

export interface Invitation {
  words: string;
  ca_digest: string;
  expires_at: string;
}

// What taking a node out now would mean.
export interface Removal {
  files: number;
  bytes: number;
  last_copies: number;
  below_wanted: number;
  fits_elsewhere: boolean;
  quorum_after: boolean;
  sentence: string;
}

export interface Check {
  id: string;
  state: 'ok' | 'warn' | 'fail' | 'info';
  title: string;
  detail: string;
  remedy: string;
}

export interface NetInterface {
  name: string;
  addresses: string[];
  used: boolean;
  why_not: string;
  mtu: number;
  sent: number;
  heard: number;
  heard_own: number;
  bad: number;
  trouble: string;
}

export interface Link {
  from: string;
  to: string;
  up: boolean;
  address: string;
  rtt_ms: number | null;
  send_bytes_per_second: number;
  receive_bytes_per_second: number;
  measured_bytes_per_second: number | null;
  measured_at: string | null;
  trouble: string;
}

export interface Doctor {
  checks: Check[];
  interfaces: NetInterface[];
  links: Link[];
}

export interface PowerPeriod {
  days?: string[];
  from: string;
  to: string;
  watts: number | null;
}
export interface PowerSettings {
  budget_watts: number | null;
  schedule: PowerPeriod[];
  limit_celsius: number | null;
  ups: 'off' | 'auto' | 'on';
  ups_watts: number | null;
}
export interface NodePower {
  id: string;
  name: string;
  state: 'reporting' | 'silent' | 'away' | 'unknown';
  cap_watts: number | null;
  working: boolean;
  watts: number | null;
  estimated: boolean;
  idle_watts: number | null;
  duty: number;
  clock_level: number;
  clock_levels: number;
  clocks: string;
  temperature: number | null;
  hot: boolean;
  on_battery: boolean;
  probing: boolean;
}
export interface Power {
  budget_watts: number | null;
  reason: 'none' | 'budget' | 'schedule' | 'ups' | 'job';
  job_id: string;
  changes_at: string | null;
  held: boolean;
  trouble: string;
  watts: number | null;
  mean_watts: number | null;
  estimated: boolean;
  idle_watts: number;
  leader: string | null;
  advice: string;
  nodes: NodePower[];
}
