import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { align } from '../../src/lib/align';
import { patchCluster } from '../../src/lib/api-access';
import { applyEvent } from '../../src/lib/events';
import { strength } from '../../src/lib/quorum';
import { metrics, type Series } from '../../src/lib/series';
import { forgetSession, linksChanged, members, nodes, peersChanged, recent, refusedWrite, servedBy, session } from '../../src/lib/stores';
import type { BoxNode } from '../../src/lib/types';
import { allCsv } from '../../src/routes/nodes/csv';
import { lookOf } from '../../src/ui/look';
import { makeNode, makeSample, makeSession } from '../support/fakes';

const node = (n: number, change: Partial<BoxNode> = {}): BoxNode => makeNode({ id: `n${n}`, name: `box-${n}`, self: n === 1, leader: n === 1, ...change });
const cut = (n: number): BoxNode => node(n, { state: 'unreachable' });

describe('the strength of a cluster', () => {
  it('is none to spare alone and with two', () => {
    expect(strength([node(1)])).toEqual({ total: 1, up: 1, mayFail: 0, minority: false });
    expect(strength([node(1), node(2)])).toMatchObject({ total: 2, mayFail: 0, minority: false });
  });

  it('grows with every second voter', () => {
    expect(strength([node(1), node(2), node(3)]).mayFail).toBe(1);
    expect(strength([1, 2, 3, 4].map((n) => node(n))).mayFail).toBe(1);
    expect(strength([1, 2, 3, 4, 5].map((n) => node(n))).mayFail).toBe(2);
  });

  it('shrinks with each one that is away, down to a minority', () => {
    expect(strength([node(1), node(2), cut(3)])).toMatchObject({ up: 2, mayFail: 0, minority: false });
    expect(strength([node(1), cut(2), cut(3)])).toMatchObject({ up: 1, mayFail: 0, minority: true });
    expect(strength([node(1), cut(2)]).minority).toBe(true);
  });

  it('counts a draining node, no removed one, and lets standbys have no vote', () => {
    expect(strength([node(1), node(2, { state: 'draining' }), node(3)])).toMatchObject({ up: 3, mayFail: 1 });
    expect(strength([node(1), node(2), node(3, { state: 'removed', voice: null })])).toMatchObject({ total: 2, mayFail: 0 });
    const seven = [1, 2, 3].map((n) => node(n));
    expect(strength([...seven, node(8, { voice: 'standby' }), node(9, { voice: 'standby', state: 'unreachable' })])).toMatchObject({ total: 5, up: 4, mayFail: 1 });
  });
});

const series = (t: number[], cpu: (number | null)[], step = 1): Series => ({
  step,
  span: 300,
  t,
  cols: Object.fromEntries(metrics.map((metric) => [metric, metric === 'cpu' ? cpu : t.map(() => null)])) as unknown as Series['cols'],
});

describe('lines of several nodes', () => {
  it('share one axis whatever fraction of a second each node counts by', () => {
    const { t, values } = align([series([100.1, 101.1], [1, 2]), series([100.4, 101.4], [3, 4])]);
    expect(t).toEqual([100, 101]);
    expect(values('cpu')).toEqual([[1, 2], [3, 4]]);
  });

  it('bridge one step of jitter and no longer silence', () => {
    const { t, values } = align([series([100, 101, 102, 103, 104, 105], [1, 1, 1, 1, 1, 1]), series([100, 102, 105], [7, 8, 9])]);
    expect(t).toHaveLength(6);
    expect(values('cpu')[1]).toEqual([7, 7, 8, null, null, 9]);
  });

  it('keep a value where a later point of the step has none', () => {
    expect(align([series([100, 100.2], [5, null])]).values('cpu')).toEqual([[5]]);
  });

  it('are in the widest step of all, and nothing of nobody', () => {
    expect(align([series([100, 110], [1, 2], 10), series([101, 111], [3, 4], 1)]).t).toEqual([100, 110]);
    expect(align([]).t).toEqual([]);
    expect(align([]).values('cpu')).toEqual([]);
  });

  it('look different, sixteen of them', () => {
    const looks = Array.from({ length: 16 }, (_, n) => JSON.stringify(lookOf(n)));
    expect(new Set(looks).size).toBe(16);
    expect(lookOf(0)).toEqual({ colour: 0, dash: 0 });
  });

  it('are one file: plain of one node, with names of several', () => {
    expect(allCsv([{ name: 'a', series: series([100], [0.5]) }])).toMatch(/^time,cpu,/);
    const lines = allCsv([
      { name: 'a', series: series([100], [0.5]) },
      { name: 'b, "two"', series: series([100], [0.25]) },
    ]).split('\r\n');
    expect(lines[0]).toMatch(/^node,time,cpu,/);
    expect(lines[1]).toMatch(/^a,1970-01-01T00:01:40\.000Z,0\.5,/);
    expect(lines[2]).toMatch(/^"b, ""two""",1970/);
  });
});

describe('events of several nodes', () => {
  // What they load anew is not the subject here.
  beforeEach(() => void vi.stubGlobal('fetch', () => new Promise(() => undefined)));
  afterEach(() => {
    forgetSession();
    vi.unstubAllGlobals();
  });

  it('put each sample to its node, and know who serves the page', () => {
    applyEvent('hello', { nodes: [node(1), node(2, { sample: null, sensors: null })] });
    applyEvent('node.sample', { node: 'n2', sample: makeSample({ cpu: 0.75 }) });
    expect(recent.value.get('n2')?.at(-1)?.cpu).toBe(0.75);
    expect(nodes.value.get('n2')?.sample?.cpu).toBe(0.75);
    expect(servedBy.value?.id).toBe('n1');
  });

  it('tell boxes of one name apart by their identity', () => {
    const twin = (id: string, change: Partial<BoxNode> = {}): BoxNode => makeNode({ id, name: 'jetson', ...change });
    const names = (): string[] => [...nodes.value.values()].map((one) => one.name);
    applyEvent('hello', { nodes: [twin('k7q2m4'), twin('p9rtw2'), node(3)] });
    expect(names()).toEqual(['jetson K7Q2', 'jetson P9RT', 'box-3']);
    applyEvent('node.changed', { node: twin('p9rtw2', { state: 'unreachable' }) });
    expect(names()).toEqual(['jetson K7Q2', 'jetson P9RT', 'box-3']);
    applyEvent('node.changed', { node: twin('p9rtw2', { name: 'ward-9' }) });
    expect(names()).toEqual(['jetson', 'ward-9', 'box-3']);
  });

  it('change what the cluster can bear', () => {
    applyEvent('hello', { nodes: [node(1), node(2), node(3)] });
    expect(members.value.mayFail).toBe(1);
    applyEvent('node.changed', { node: { ...cut(3), sensors: null, sample: null } });
    expect(members.value).toMatchObject({ up: 2, mayFail: 0, minority: false });
    applyEvent('node.changed', { node: cut(2) });
    expect(members.value.minority).toBe(true);
  });

  it('ask for lists anew where a box or a link changed', () => {
    const [peers, links] = [peersChanged.value, linksChanged.value];
    applyEvent('peer.changed', {});
    applyEvent('link.changed', { link: {} });
    expect([peersChanged.value - peers, linksChanged.value - links]).toEqual([1, 1]);
  });

  it('end the word of a refused change; so does a change that was saved', async () => {
    session.value = makeSession();
    const answer = (status: number, body: unknown): void => void vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(body), { status })));
    answer(503, { code: 'no_quorum', detail: 'This side of the network has 1 of 3 nodes.' });
    await expect(patchCluster({ name: 'x' }, '1')).rejects.toMatchObject({ code: 'no_quorum' });
    expect(refusedWrite.value).toBe('This side of the network has 1 of 3 nodes.');
    answer(200, {});
    await patchCluster({ name: 'x' }, '1');
    expect(refusedWrite.value).toBe('');
    refusedWrite.value = 'again';
    applyEvent('node.changed', { node: node(2) });
    expect(refusedWrite.value).toBe('');
  });
});
