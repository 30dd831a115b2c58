// The live side of the page: one event stream per browser, shared by all its tabs.
//
//   connecting ──hello──▶ live ──nothing for 6 s──▶ lost ──any event──▶ live
//
// The leader reads the stream, applies each event to its own stores and passes it on. A tab that joins asks for the
// present state and gets the leader's, so it does not wait for the next tick.
import * as api from './api';
import { sessionEnded } from './auth';
import { Leader } from './leader';
import { t } from './messages';
import { alerts, auditHead, cluster, datasetsChanged, energySince, isWorking, jobNote, jobs, linksChanged, live, mayUpload, members, modelsChanged, nodes, operations, operationsKnown, peersChanged, pushSample, recent, refusedWrite, scorings, serverNow, session, setNodes, toast, type LiveState } from './stores';
import type { Alert, BoxNode, Cluster, Sample } from './types';
import type { Operation } from './types-data';
import type { Job, Scoring } from './types-models';

const silenceMs = 6000; // samples come each second
const lookMs = 15_000;
const retryMs = [500, 1000, 2000, 4000, 8000];
const kinds = ['hello', 'reset', 'bye', 'node.sample', 'node.changed', 'alert.changed', 'audit.appended', 'cluster.changed', 'session.expiring', 'operation.changed', 'dataset.changed', 'job.changed', 'job.metric', 'job.log', 'model.changed', 'scoring.changed', 'peer.changed', 'link.changed'] as const;
type Kind = (typeof kinds)[number];

interface Snapshot {
  nodes?: BoxNode[];
  cluster?: Cluster;
  alerts?: Alert[];
  recent?: [string, readonly Sample[]][];
  energySince?: number;
}
type Note =
  | { note: 'event'; kind: Kind; data: unknown }
  | { note: 'status'; state: LiveState; since: number }
  | { note: 'ask' }
  | { note: 'tell'; snapshot: Snapshot };

function setLive(state: LiveState): void {
  if (live.value.state !== state) live.value = { state, since: serverNow() };
}

function setCluster(next: Cluster, since = 0): void {
  cluster.value = next;
  energySince.value = since;
}

function applySnapshot(snapshot: Snapshot): void {
  if (snapshot.cluster) setCluster(snapshot.cluster, snapshot.energySince ?? 0);
  if (snapshot.alerts) alerts.value = snapshot.alerts;
  if (snapshot.nodes) {
    setNodes(snapshot.nodes);
    for (const node of snapshot.nodes) if (node.sample && !recent.value.has(node.id)) pushSample(node.id, node.sample);
  }
  if (snapshot.recent) recent.value = new Map(snapshot.recent);
}

async function refetch(): Promise<void> {
  const [box, list, open] = await Promise.all([api.getCluster(), api.getNodes(), api.getAlerts()]);
  applySnapshot({ cluster: box.value, nodes: list.items, alerts: open.items });
}

// What goes on at the box, also what began before this page did.
async function refetchWork(): Promise<void> {
  const byId = <R extends { id: string }>({ items }: { items: R[] }): ReadonlyMap<string, R> => new Map(items.map((one) => [one.id, one]));
  // Not every role may see all of it.
  api.getJobs().then((page) => (jobs.value = byId(page)), () => undefined);
  if (mayUpload.value) api.getScorings().then((page) => (scorings.value = byId(page)), () => undefined);
  modelsChanged.value += 1;
  operations.value = byId(await api.getOperations());
  operationsKnown.value = true;
  datasetsChanged.value += 1;
}

// Whoever began it is told how it ended, wherever they are by then.
function tellEnd(before: { state: string } | undefined, now: { state: string; owner_id: string }, name: string): void {
  if (!before || !isWorking(before) || isWorking(now) || now.owner_id !== session.value?.user.id) return;
  if (now.state === 'done') toast(t('operation.told_done', { name }), { tone: 'ok' });
  if (now.state === 'failed') toast(t('operation.told_failed', { name }), { tone: 'error' });
}

// Exported for the tests: what one event does to the stores.
export function applyEvent(kind: Kind, data: unknown): void {
  switch (kind) {
    case 'hello':
      applySnapshot(data as Snapshot);
      void refetchWork().catch(() => undefined);
      break;
    case 'reset':
      void refetch().catch(() => undefined);
      void refetchWork().catch(() => undefined);
      break;
    case 'operation.changed': {
      const changed = data as Operation;
      tellEnd(operations.value.get(changed.id), changed, changed.title);
      operations.value = new Map(operations.value).set(changed.id, changed);
      break;
    }
    case 'dataset.changed':
      datasetsChanged.value += 1;
      break;
    case 'job.changed': {
      const changed = data as Job;
      const before = jobs.value.get(changed.id);
      tellEnd(before, changed, changed.name);
      changed.dataset ??= before?.dataset ?? null;
      jobs.value = new Map(jobs.value).set(changed.id, changed);
      break;
    }
    case 'scoring.changed': {
      const changed = data as Scoring;
      tellEnd(scorings.value.get(changed.id), changed, changed.model);
      scorings.value = new Map(scorings.value).set(changed.id, changed);
      break;
    }
    case 'job.metric':
    case 'job.log':
      jobNote.value = { kind, data };
      break;
    case 'model.changed':
      modelsChanged.value += 1;
      break;
    case 'node.sample': {
      const { node, sample } = data as { node: string; sample: Sample | null };
      if (sample) pushSample(node, sample);
      break;
    }
    case 'node.changed': {
      const changed = ((data as { node?: BoxNode }).node ?? data) as BoxNode;
      if (changed?.id && changed.state) setNodes(new Map(nodes.value).set(changed.id, { ...nodes.value.get(changed.id), ...changed, given: undefined }).values());
      else void refetch().catch(() => undefined);
      // The votes may suffice again; if they do not, the next refusal says so.
      refusedWrite.value = '';
      break;
    }
    case 'peer.changed':
      peersChanged.value += 1;
      break;
    case 'link.changed':
      linksChanged.value += 1;
      break;
    case 'cluster.changed': {
      const changed = ((data as { cluster?: Cluster }).cluster ?? data) as Cluster;
      if (changed?.id && changed.health) setCluster(changed);
      else void refetch().catch(() => undefined);
      break;
    }
    case 'alert.changed': {
      const list = (data as { alerts?: Alert[] } | null)?.alerts;
      if (list) alerts.value = list;
      else void api.getAlerts().then((page) => (alerts.value = page.items), () => undefined);
      break;
    }
    case 'audit.appended':
      auditHead.value = Math.max(auditHead.value, (data as { seq: number }).seq);
      break;
    case 'session.expiring': {
      const current = session.value;
      const left = (data as { in_s: number }).in_s;
      if (current) session.value = { ...current, idle_expires_at: new Date(serverNow() + left * 1000).toISOString() };
      break;
    }
    case 'bye':
      void sessionEnded();
      break;
  }
}

class EventShare {
  #channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('samovar.events');
  #leader: Leader;
  #lastHeard = performance.now();
  #watch: ReturnType<typeof setInterval>;
  #stopped = false;

  constructor() {
    this.#leader = new Leader('samovar.events', { lead: (signal) => this.#lead(signal), follow: () => this.#follow() });
    this.#channel?.addEventListener('message', (event: MessageEvent<Note>) => this.#hear(event.data));
    this.#watch = setInterval(() => this.#check(), 1000);
    addEventListener('pagehide', this.#leave);
    this.#leader.start();
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#watch);
    removeEventListener('pagehide', this.#leave);
    this.#leader.stop();
    this.#channel?.close();
    setLive('connecting');
  }

  #leave = (): void => this.#leader.stop();

  #say(note: Note): void {
    if (!this.#stopped) this.#channel?.postMessage(note);
  }

  #status(state: LiveState): void {
    setLive(state);
    this.#say({ note: 'status', ...live.value });
  }

  #tell(): void {
    if (!cluster.value) return;
    const snapshot = { cluster: cluster.value, nodes: [...nodes.value.values()], alerts: [...alerts.value], recent: [...recent.value], energySince: energySince.value };
    this.#say({ note: 'tell', snapshot });
  }

  #follow(): void {
    setLive('connecting');
    this.#say({ note: 'ask' });
    void refetchWork().catch(() => undefined);
  }

  #hear(note: Note): void {
    this.#lastHeard = performance.now();
    if (note.note === 'ask') {
      if (!this.#leader.leading || !cluster.value) return;
      this.#tell();
      this.#say({ note: 'status', ...live.value });
    } else if (this.#leader.leading) {
      return;
    } else if (note.note === 'tell') {
      applySnapshot(note.snapshot);
    } else if (note.note === 'status') {
      live.value = { state: note.state, since: note.since };
    } else {
      applyEvent(note.kind, note.data);
      if (note.kind === 'hello' || note.kind === 'node.sample') setLive('live');
    }
  }

  // A leader reports silence; a visible follower of a silent leader takes over.
  #check(): void {
    const quiet = performance.now() - this.#lastHeard;
    if (this.#leader.leading) {
      if (quiet > silenceMs) this.#status('lost');
    } else if (quiet > silenceMs * 2 && document.visibilityState === 'visible') {
      this.#lastHeard = performance.now();
      this.#leader.steal();
    }
  }

  #lead(signal: AbortSignal): void {
    let attempt = 0;
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let openedAt = 0;
    const again = (): void => {
      source?.close();
      source = null;
      clearTimeout(timer);
      if (signal.aborted) return;
      timer = setTimeout(open, retryMs[Math.min(attempt, retryMs.length - 1)]);
      attempt += 1;
    };
    const open = (): void => {
      if (signal.aborted) return;
      openedAt = performance.now();
      source = api.openEvents();
      for (const kind of kinds) {
        source.addEventListener(kind, (event) => {
          attempt = 0;
          this.#lastHeard = performance.now();
          const data: unknown = parse((event as MessageEvent<string>).data);
          if (kind === 'hello' || kind === 'node.sample') this.#status('live');
          applyEvent(kind, data);
          this.#say({ note: 'event', kind, data });
          if (kind === 'bye') again();
        });
      }
      source.addEventListener('error', () => {
        // A short gap is no loss; #check() reports the long ones. A refused stream may mean that the session ended.
        if (source?.readyState === EventSource.CLOSED) void sessionEnded();
        again();
      });
    };
    // What is known of other nodes changes without an event: who leads and votes, how long they take to answer.
    const look = setInterval(() => {
      if (members.value.total < 2 || document.visibilityState !== 'visible' || live.value.state !== 'live') return;
      void refetch().then(() => this.#tell(), () => undefined);
    }, lookMs);
    // A stream that is open but silent (a dead network path sends no error) is opened anew.
    const wake = setInterval(() => {
      const quiet = performance.now() - Math.max(this.#lastHeard, openedAt);
      if (source && quiet > silenceMs * 2) again();
    }, 2000);
    signal.addEventListener('abort', () => {
      clearInterval(wake);
      clearInterval(look);
      clearTimeout(timer);
      source?.close();
    });
    this.#lastHeard = performance.now();
    open();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

let share: EventShare | null = null;
export function startEvents(): void {
  share ??= new EventShare();
}
export function stopEvents(): void {
  share?.stop();
  share = null;
}
