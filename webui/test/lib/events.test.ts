import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { applyEvent } from '../../src/lib/events';
import { alerts, auditHead, cluster, datasetsChanged, dismissedOperations, energySince, forgetSession, jobNote, jobs, modelsChanged, nodes, operations, operationsKnown, recent, recentMax, scorings, session, shownJobs, shownOperations, toasts } from '../../src/lib/stores';
import { makeCluster, makeJob, makeNode, makeOperation, makeSample, makeSession } from '../support/fakes';

const secondsOf = (n: number): string => new Date(Date.parse('2026-01-01T00:00:00Z') + n * 1000).toISOString();

beforeEach(() => {
  forgetSession();
  energySince.value = 0;
  auditHead.value = 0;
  vi.stubGlobal('fetch', () => Promise.resolve(Response.json({ items: [makeOperation({ id: 'op_old' })], next_cursor: null })));
});
afterEach(() => vi.unstubAllGlobals());

const hello = () => applyEvent('hello', { nodes: [makeNode()], cluster: makeCluster(), alerts: [] });

describe('events', () => {
  it('fills the stores from the snapshot', () => {
    hello();
    expect(cluster.value?.name).toBe('Ward 4');
    expect(nodes.value.get('node-1')?.name).toBe('one');
    expect(recent.value.get('node-1')).toHaveLength(1);
  });

  it('keeps the newest samples and no more than fit', () => {
    hello();
    for (let i = 1; i <= recentMax + 5; i += 1) applyEvent('node.sample', { node: 'node-1', sample: makeSample({ t: secondsOf(i), cpu: i }) });
    expect(recent.value.get('node-1')).toHaveLength(recentMax);
    expect(nodes.value.get('node-1')?.sample?.cpu).toBe(recentMax + 5);
  });

  it('adds up the energy between two snapshots', () => {
    hello();
    applyEvent('node.sample', { node: 'node-1', sample: makeSample({ t: secondsOf(1), watts: 36 }) });
    expect(energySince.value).toBeCloseTo(0.01);
    applyEvent('cluster.changed', makeCluster({ name: 'Ward 5' }));
    expect(cluster.value?.name).toBe('Ward 5');
    expect(energySince.value).toBe(0);
  });

  it('takes alerts and audit numbers', () => {
    applyEvent('alert.changed', { alerts: [{ id: 'a', severity: 'info', title: '', detail: '', remedy: '', since: '' }] });
    expect(alerts.value).toHaveLength(1);
    applyEvent('audit.appended', { seq: 7 });
    applyEvent('audit.appended', { seq: 5 });
    expect(auditHead.value).toBe(7);
  });

  it('brings the end of the session forward when the box warns', () => {
    session.value = makeSession();
    applyEvent('session.expiring', { in_s: 90 });
    const left = (Date.parse(session.value.idle_expires_at) - Date.now()) / 1000;
    expect(left).toBeGreaterThan(80);
    expect(left).toBeLessThanOrEqual(90);
  });

  it('asks for the work that began before this page did', async () => {
    hello();
    await vi.waitFor(() => expect(operationsKnown.value).toBe(true));
    expect([...operations.value.keys()]).toEqual(['op_old']);
  });

  it('follows operations, and shows how the last ones ended until they are hidden', () => {
    applyEvent('operation.changed', makeOperation({ id: 'op_1' }));
    const ended = new Date().toISOString();
    applyEvent('operation.changed', makeOperation({ id: 'op_2', state: 'done', ended_at: ended, created_at: '2026-02-01T00:00:00Z' }));
    applyEvent('operation.changed', makeOperation({ id: 'op_3', state: 'done', ended_at: '2026-01-01T00:00:00Z' }));
    expect(shownOperations.value.map((one) => one.id)).toEqual(['op_2', 'op_1']);
    dismissedOperations.value = new Set(['op_1', 'op_2']);
    expect(shownOperations.value.map((one) => one.id)).toEqual(['op_1']);
  });

  it('tells whoever began an operation how it ended', () => {
    session.value = makeSession();
    for (const owner_id of ['usr_1', 'usr_2']) {
      const id = `op_${owner_id}`;
      applyEvent('operation.changed', makeOperation({ id, owner_id }));
      applyEvent('operation.changed', makeOperation({ id, owner_id, state: 'done' }));
      applyEvent('operation.changed', makeOperation({ id, owner_id, state: 'done' }));
    }
    expect(toasts.value.map((one) => one.text)).toEqual(['Ready: Patients']);
  });

  it('tells lists that a data set changed', () => {
    const before = datasetsChanged.value;
    applyEvent('dataset.changed', { id: 'dst_1' });
    expect(datasetsChanged.value).toBe(before + 1);
  });

  it('follows jobs and scorings, and tells their end to whoever began them', () => {
    session.value = makeSession();
    toasts.value = [];
    applyEvent('job.changed', makeJob({ share: 0.5 }));
    expect(shownJobs.value.map((one) => one.share)).toEqual([0.5]);
    applyEvent('job.changed', makeJob({ state: 'done', dataset: null, ended_at: new Date().toISOString() }));
    expect(jobs.value.get('job_1')).toMatchObject({ state: 'done', dataset: 'Patients' });
    applyEvent('scoring.changed', { id: 'scr_1', model: 'again', state: 'running', owner_id: 'usr_1' });
    applyEvent('scoring.changed', { id: 'scr_1', model: 'again', state: 'failed', owner_id: 'usr_1' });
    expect(scorings.value.size).toBe(1);
    expect(toasts.value.map((one) => one.text)).toEqual(['Ready: again', 'Did not work out: again']);
  });

  it('passes points and lines of jobs on, and tells lists that a model changed', () => {
    applyEvent('job.metric', { id: 'job_1', names: ['step'], values: [1] });
    expect(jobNote.value).toEqual({ kind: 'job.metric', data: { id: 'job_1', names: ['step'], values: [1] } });
    const before = modelsChanged.value;
    applyEvent('model.changed', { name: 'again' });
    expect(modelsChanged.value).toBe(before + 1);
  });
});
