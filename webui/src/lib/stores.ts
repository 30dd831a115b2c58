// All state that more than one part of the page shares. Signals only; who changes them is said beside each.
import { computed, signal } from '@preact/signals';
import { unixSeconds } from './format';
import { labelled } from './labels';
import { strength } from './quorum';
import type { Alert, BoxNode, Cluster, Sample, Session, SetupInfo } from './types';
import type { Operation } from './types-data';
import type { Job, Scoring } from './types-models';

// --- The box. Set by boot.ts and, when ready, by events.ts.
export const setup = signal<SetupInfo | null>(null);
export const unreachable = signal(false);
export const cluster = signal<Cluster | null>(null);
export const nodes = signal<ReadonlyMap<string, BoxNode>>(new Map());
export const alerts = signal<readonly Alert[]>([]);
export const dismissedAlerts = signal<ReadonlySet<string>>(new Set());
export const shownAlerts = computed(() => alerts.value.filter((alert) => !dismissedAlerts.value.has(alert.id)));
export function setNodes(list: Iterable<BoxNode>): void {
  nodes.value = new Map(labelled(list).map((node) => [node.id, node]));
}
export const members = computed(() => strength(nodes.value.values()));
export const servedBy = computed(() => [...nodes.value.values()].find((node) => node.self) ?? null);
// What the box said when it refused to save because it is cut off from most of its cluster. Set by api.ts.
export const refusedWrite = signal('');
export const peersChanged = signal(0); // goes up whenever a box was heard for the first time, changed or went
export const linksChanged = signal(0);
export const auditHead = signal(0); // highest sequence number announced by the event stream

// --- The last two minutes of each node, for sparklines and live charts. Set by events.ts.
export const recentMax = 120;
export const recent = signal<ReadonlyMap<string, readonly Sample[]>>(new Map());

// Watt-hours since the box last told the day's energy: it says so rarely, the samples each second.
export const energySince = signal(0);

export function pushSample(node: string, sample: Sample): void {
  const old = recent.value.get(node) ?? [];
  const last = old.at(-1);
  if (last && sample.watts !== null) {
    const seconds = Math.min(10, Math.max(0, unixSeconds(sample.t) - unixSeconds(last.t)));
    energySince.value += (sample.watts * seconds) / 3600;
  }
  const next = [...old.slice(Math.max(0, old.length - recentMax + 1)), sample];
  recent.value = new Map(recent.value).set(node, next);
  const known = nodes.value.get(node);
  if (known) nodes.value = new Map(nodes.value).set(node, { ...known, sample });
}

// Puts older samples in front of those that came live.
export function backfill(node: string, past: readonly Sample[]): void {
  const now = recent.value.get(node) ?? [];
  const first = now[0] ? unixSeconds(now[0].t) : Number.POSITIVE_INFINITY;
  const older = past.filter((sample) => unixSeconds(sample.t) < first - 0.5);
  recent.value = new Map(recent.value).set(node, [...older, ...now].slice(-recentMax));
}

// --- The event stream. Set by events.ts.
export type LiveState = 'connecting' | 'live' | 'lost';
export const live = signal<{ state: LiveState; since: number }>({ state: 'connecting', since: 0 });
export const stale = computed(() => live.value.state === 'lost');

// --- Who is using this browser. Set by auth.ts.
export const session = signal<Session | null>(null);
export const sessionKnown = signal(false); // false until the first answer about the session
export const role = computed(() => session.value?.user.role ?? null);
export const isAdmin = computed(() => role.value === 'admin');
// Whoever administers the box does not carry its record away: that is the auditor's.
export const mayExportAudit = computed(() => role.value === 'auditor');
export const mayCheckAudit = computed(() => role.value === 'admin' || role.value === 'auditor');

// A request waits for the password in one of these dialogs. `done(false)` means the person declined.
export interface PasswordPrompt {
  kind: 'login' | 'reauth';
  done: (ok: boolean) => void;
}
export const passwordPrompt = signal<PasswordPrompt | null>(null);

// --- Where we are. Set by router.ts.
export interface Place {
  path: string;
  query: URLSearchParams;
}
export const place = signal<Place>({ path: '/', query: new URLSearchParams() });

// --- The server's clock minus ours, in milliseconds. Set by api.ts from the Date header.
export const clockOffset = signal(0);
export const serverNow = (): number => Date.now() + clockOffset.value;

// --- Toasts and tasks. Set through the functions below.
export interface Toast {
  id: number;
  tone: 'info' | 'ok' | 'error';
  text: string;
  undo?: () => void;
}
export const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

export function toast(text: string, options: { tone?: Toast['tone']; undo?: () => void } = {}): number {
  lastId += 1;
  const item: Toast = { id: lastId, tone: options.tone ?? 'info', text, undo: options.undo };
  toasts.value = [...toasts.value.slice(-3), item];
  return item.id;
}
export function dropToast(id: number): void {
  toasts.value = toasts.value.filter((item) => item.id !== id);
}

export interface TrayTask {
  id: number;
  title: string;
  state: 'running' | 'done' | 'failed';
  detail: string;
  started: number;
}
export const tasks = signal<readonly TrayTask[]>([]);

// Shows a piece of work in the tray while it runs, and how it ended.
export async function tracked<T>(title: string, work: () => Promise<T>): Promise<T> {
  lastId += 1;
  const id = lastId;
  const set = (change: Partial<TrayTask>): void => {
    tasks.value = tasks.value.map((task) => (task.id === id ? { ...task, ...change } : task));
  };
  tasks.value = [{ id, title, state: 'running' as const, detail: '', started: Date.now() }, ...tasks.value].slice(0, 8);
  try {
    const result = await work();
    set({ state: 'done' });
    return result;
  } catch (error) {
    set({ state: 'failed', detail: error instanceof Error ? error.message : '' });
    throw error;
  }
}

// --- Files on their way to the box. Set by uploads.ts; the box keeps what has arrived, whatever happens here.
//
//   queued ─▶ sending ─▶ sent                 sending ─▶ waiting (no answer) ─▶ sending
//   paused: by the person · file: begun before, needs the file again · elsewhere: another tab sends it
export type TransferState = 'queued' | 'sending' | 'paused' | 'waiting' | 'file' | 'elsewhere' | 'failed' | 'sent';
export interface Transfer {
  key: string; // stays the same for the life of the card
  id: string; // the box's, empty until it has one
  name: string;
  length: number;
  sent: number;
  state: TransferState;
  perSecond: number | null;
  error: string;
  sha256: string;
  operation: string; // makes a data set of it; else empty
}
export const transfers = signal<readonly Transfer[]>([]);
const moving: readonly TransferState[] = ['queued', 'sending', 'waiting', 'elsewhere'];
export const sendingNow = computed(() => transfers.value.filter((one) => moving.includes(one.state)).length);

// --- Work of the box on data. Set by events.ts.
export const operations = signal<ReadonlyMap<string, Operation>>(new Map());
export const operationsKnown = signal(false); // false until the box has told them
export const dismissedOperations = signal<ReadonlySet<string>>(new Set());
export const isWorking = (one: { state: string }): boolean => one.state === 'queued' || one.state === 'running';
// What somebody watching wants to see: all that goes on, newest first, and how the last ones ended.
type Work = Pick<Operation, 'id' | 'created_at' | 'ended_at'> & { state: string };
function shown<W extends Work>(all: ReadonlyMap<string, W>): W[] {
  const list = [...all.values()].sort((a, b) => b.created_at.localeCompare(a.created_at));
  const fresh = (one: W): boolean => serverNow() - unixSeconds(one.ended_at) * 1000 < 600_000;
  return list.filter((one) => isWorking(one) || (fresh(one) && !dismissedOperations.value.has(one.id)));
}
export const shownOperations = computed(() => shown(operations.value));
// A file that waits for somebody: no operation makes a data set of it, or the one that tried has failed.
export function waitsForLook(one: Transfer): boolean {
  if (!one.operation) return true;
  const work = operations.value.get(one.operation);
  return work ? work.state === 'failed' || work.state === 'cancelled' : operationsKnown.value;
}
export const datasetsChanged = signal(0); // goes up whenever a data set changed: lists load again

// --- Training and batch scoring. Set by events.ts; the newest of each, lists ask for the rest.
export const jobs = signal<ReadonlyMap<string, Job>>(new Map());
export const scorings = signal<ReadonlyMap<string, Scoring>>(new Map());
export const shownJobs = computed(() => shown(jobs.value));
export const shownScorings = computed(() => shown(scorings.value));
export const jobNote = signal<{ kind: string; data: unknown } | null>(null); // the last point or line of a job
export const modelsChanged = signal(0);
export const mayUpload = computed(() => role.value === 'admin' || role.value === 'analyst');

// --- Preferences of this browser. Set by prefs.ts.
export type Theme = 'system' | 'light' | 'dark';
export const theme = signal<Theme>('system');
export const resolvedTheme = signal<'light' | 'dark'>('light');
export const shortcutsOn = signal(true);

// Everything that belongs to a person goes when the person does.
export function forgetSession(): void {
  session.value = null;
  cluster.value = null;
  nodes.value = new Map();
  recent.value = new Map();
  alerts.value = [];
  dismissedAlerts.value = new Set();
  tasks.value = [];
  transfers.value = [];
  operations.value = new Map();
  operationsKnown.value = false;
  jobs.value = new Map();
  scorings.value = new Map();
  dismissedOperations.value = new Set();
  refusedWrite.value = '';
}
