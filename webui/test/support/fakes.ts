// Resources with sensible values, so that a test writes down only what it is about.
import type { BoxNode, Cluster, Sample, Session } from '../../src/lib/types';
import type { Operation } from '../../src/lib/types-data';
import type { Job } from '../../src/lib/types-models';

export function makeSession(change: Partial<Session> = {}): Session {
  return {
    id: 'ses_1',
    user: { id: 'usr_1', username: 'ada', display_name: 'Ada', role: 'admin' },
    csrf: 'csrf-1',
    kind: 'cookie',
    created_at: '2026-01-01T00:00:00Z',
    expires_at: '2126-01-01T12:00:00Z',
    idle_expires_at: '2126-01-01T00:15:00Z',
    reauth_until: null,
    last_login: null,
    ...change,
  };
}

export function makeSample(change: Partial<Sample> = {}): Sample {
  return {
    t: '2026-01-01T00:00:00Z',
    cpu: 0.5,
    load1: 1,
    mem_used_bytes: 100,
    mem_total_bytes: 400,
    disk_used_bytes: 10,
    disk_total_bytes: 20,
    watts: 10,
    watts_estimated: false,
    temp_max_c: 40,
    temp_max_name: 'cpu',
    gpu_load: null,
    net_rx_bps: 1,
    net_tx_bps: 2,
    process_rss_bytes: 3,
    process_cpu: 0,
    ...change,
  };
}

export function makeNode(change: Partial<BoxNode> = {}): BoxNode {
  return {
    id: 'node-1',
    name: 'one',
    hostname: 'one',
    model: 'board',
    state: 'up',
    self: true,
    leader: true,
    voice: 'voter',
    url: null,
    heard_at: null,
    rtt_ms: null,
    disk: { total: 20, free: 10 },
    version: '0.1.0',
    arch: 'aarch64',
    cores: 4,
    memory_bytes: 400,
    disk_bytes: 20,
    started_at: '2026-01-01T00:00:00Z',
    uptime_s: 1,
    addresses: [],
    sensors: { power: 'estimate', power_note: '', temperatures: [], rails: [], gpu: null },
    sandbox: 'full',
    sample: makeSample(),
    ...change,
  };
}

export function makeCluster(change: Partial<Cluster> = {}): Cluster {
  return {
    id: 'clu_1',
    name: 'Ward 4',
    created_at: '2026-01-01T00:00:00Z',
    version: '0.1.0',
    phase: 'ready',
    time_zone: 'UTC',
    health: { state: 'ok', summary: 'All is well' },
    nodes: { total: 1, up: 1 },
    power: { watts: 10, estimated: false, energy_today_wh: 5 },
    storage: { total_bytes: 20, free_bytes: 10 },
    time: '2026-01-01T00:00:00Z',
    ...change,
  };
}

export function makeOperation(change: Partial<Operation> = {}): Operation {
  return {
    id: 'op_1',
    kind: 'ingest',
    state: 'running',
    title: 'Patients',
    owner_id: 'usr_1',
    dataset_id: null,
    version: 1,
    step: 'reading',
    done_bytes: 5,
    total_bytes: 10,
    rows: 0,
    bad_rows: 0,
    error: null,
    queue_position: 0,
    created_at: '2026-01-01T00:00:00Z',
    ended_at: null,
    ...change,
  };
}

export function makeJob(change: Partial<Job> = {}): Job {
  return {
    id: 'job_1',
    kind: 'glm',
    name: 'again',
    owner_id: 'usr_1',
    owner: 'ada',
    dataset_id: 'dst_1',
    dataset: 'Patients',
    dataset_version: 1,
    target: 'again',
    spec: { kind: 'glm', name: 'again', dataset: 'dst_1', target: 'again' },
    state: 'running',
    step: 'training',
    share: 0,
    rows: 0,
    pass: 0,
    rows_per_second: 0,
    seconds: 0,
    seconds_left: null,
    watt_hours: 0,
    energy_estimated: true,
    metric: 'valid_loss',
    best: null,
    queue_position: 0,
    priority: 0,
    error: null,
    attempt: 1,
    model: null,
    model_version: null,
    protected: false,
    checkpoint_step: 0,
    created_at: '2026-01-01T00:00:00Z',
    started_at: null,
    ended_at: null,
    revision: 1,
    ...change,
  };
}
