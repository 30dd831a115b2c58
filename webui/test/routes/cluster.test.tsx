import '../../src/messages/en-doctor';
import '../../src/messages/en-peers';
import { render, type ComponentChild } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../src/lib/api';
import * as cluster from '../../src/lib/api-cluster';
import { forgetSession, nodes, refusedWrite, session } from '../../src/lib/stores';
import type { BoxNode } from '../../src/lib/types';
import type { Check, Join, Link, Peer, Removal } from '../../src/lib/types-cluster';
import type { ShardMap } from '../../src/lib/types-data';
import { arrived, nodesOf, verdict } from '../../src/routes/dataset/shard-map';
import { Checks } from '../../src/routes/doctor/Checks';
import { matrix } from '../../src/routes/doctor/matrix';
import RemoveNode, { dangerOf } from '../../src/routes/nodes/RemoveNode';
import { strengthText } from '../../src/routes/overview/Nodes';
import { ApproveDialog } from '../../src/routes/peers/ApproveDialog';
import { caretAfter, digitsOf, grouped } from '../../src/routes/peers/code';
import { freshIn } from '../../src/routes/peers/fresh';
import { QuorumBanner } from '../../src/ui/QuorumBanner';
import { makeNode, makeSession } from '../support/fakes';

vi.mock('../../src/lib/api-cluster');
const box = vi.mocked(cluster);

let root: HTMLElement;
const show = (what: ComponentChild): void => act(() => render(what, root)) as unknown as void;
const settle = (): Promise<void> => act(async () => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}) as unknown as Promise<void>;
const button = (name: string): HTMLButtonElement => [...root.querySelectorAll('button')].find((one) => one.textContent === name)!;
const type = async (input: HTMLInputElement, text: string): Promise<void> => {
  input.value = text;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  await settle();
};
const submit = async (): Promise<void> => {
  root.querySelector('form')!.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
  await settle();
};

beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
  session.value = makeSession();
});
afterEach(() => {
  act(() => render(null, root));
  root.remove();
  forgetSession();
  vi.clearAllMocks();
});

const node = (n: number, change: Partial<BoxNode> = {}): BoxNode => makeNode({ id: `n${n}`, name: `box-${n}`, self: n === 1, ...change });
const join = (change: Partial<Join> = {}): Join => ({
  id: 'join_1',
  node_id: 'K7Q2',
  node: { hostname: 'new', model: 'board', arch: 'aarch64', memory_bytes: 1, disk_bytes: 1, clock_skew_s: 0 },
  cluster_name: 'Ward 4',
  expires_at: '2126-01-01T00:00:00Z',
  tries_left: 3,
  ...change,
});
const peer = (id: string, change: Partial<Peer> = {}): Peer => ({
  id,
  short_id: id.slice(0, 4),
  hostname: 'new',
  model: 'board',
  version: '1',
  address: '10.0.0.9:7443',
  interface: 'eth0',
  multicast: true,
  state: 'waiting',
  detail: '',
  first_seen: '2026-01-01T00:00:00Z',
  last_seen: '2026-01-01T00:00:00Z',
  join: null,
  ...change,
});

describe('the code from another screen', () => {
  it('is six digits, however they are typed or pasted', () => {
    expect(digitsOf(' 418 902\n')).toBe('418902');
    expect(digitsOf('41-89-02-77')).toBe('418902');
    expect(grouped('418')).toBe('418');
    expect(grouped('4189')).toBe('418 9');
  });
  it('keeps the caret where it was typed', () => {
    expect(caretAfter('41', 2)).toBe(2);
    expect(caretAfter('4189', 4)).toBe(5);
    expect(caretAfter('4x1', 2)).toBe(1);
  });
});

describe('approving a box', () => {
  const code = (): HTMLInputElement => root.querySelector('input[inputmode=numeric]')!;

  it('asks for the password, then for the code, and tells what the box says of itself', async () => {
    box.approvePeer.mockResolvedValue(join());
    show(<ApproveDialog peer={peer('K7Q2M4')} onClose={() => undefined} />);
    expect(root.textContent).toContain('K7Q2');
    await type(root.querySelector('input')!, 'secret');
    await submit();
    expect(box.approvePeer).toHaveBeenCalledWith('K7Q2M4', 'secret');
    expect(code().getAttribute('autocomplete')).toBe('off');
    expect(root.textContent).toContain('3 tries left');
    expect(root.textContent).toContain('board');
  });

  it('counts wrong codes, and does not ask the box about half of one', async () => {
    box.confirmPeer.mockRejectedValue(new ApiError({ status: 422, code: 'wrong_code', tries_left: 1 }));
    show(<ApproveDialog peer={peer('K7Q2M4', { state: 'code_needed', join: join() })} onClose={() => undefined} />);
    await type(code(), '41');
    await submit();
    expect(box.confirmPeer).not.toHaveBeenCalled();
    expect(root.textContent).toContain('Six digits');
    await type(code(), '418902');
    expect(code().value).toBe('418 902');
    await submit();
    expect(box.confirmPeer).toHaveBeenCalledWith('K7Q2M4', '418902');
    expect(root.textContent).toContain('not the digits');
    expect(root.textContent).toContain('1 try left');
    expect(code().value).toBe('');
  });

  it('ends in words: joined, over, late', async () => {
    const begin = async (): Promise<void> => {
      act(() => render(null, root));
      show(<ApproveDialog peer={peer('K7Q2M4', { join: join() })} onClose={() => undefined} />);
      await type(code(), '418902');
      await submit();
    };
    box.confirmPeer.mockResolvedValue(node(4, { name: 'box-4' }));
    await begin();
    expect(root.textContent).toContain('box-4 is part of the cluster');
    box.confirmPeer.mockRejectedValue(new ApiError({ status: 409, code: 'join_over', detail: 'The other box gave up.' }));
    await begin();
    expect(root.textContent).toContain('It did not join');
    expect(root.textContent).toContain('The other box gave up.');
    act(() => render(null, root));
    show(<ApproveDialog peer={peer('K7Q2M4', { join: join({ expires_at: '2020-01-01T00:00:00Z' }) })} onClose={() => undefined} />);
    expect(root.textContent).toContain('ran out');
    expect(code().disabled).toBe(true);
  });

  it('is cancelled only by its button', async () => {
    const onClose = vi.fn<() => void>();
    box.cancelPeer.mockResolvedValue();
    show(<ApproveDialog peer={peer('K7Q2M4', { join: join() })} onClose={onClose} />);
    button('Cancel the join').click();
    await settle();
    expect(box.cancelPeer).toHaveBeenCalledWith('K7Q2M4');
    expect(onClose).toHaveBeenCalledOnce();
  });
});

describe('boxes heard', () => {
  it('are news only after the first list, and only while they wait', () => {
    expect(freshIn(null, [peer('a')])).toBeNull();
    expect(freshIn(new Set(['a']), [peer('a')])).toBeNull();
    expect(freshIn(new Set(['a']), [peer('a'), peer('b')])?.id).toBe('b');
    expect(freshIn(new Set(), [peer('b', { state: 'other_cluster' })])).toBeNull();
  });
});

const removal = (change: Partial<Removal> = {}): Removal => ({ files: 4, bytes: 100, last_copies: 0, below_wanted: 0, fits_elsewhere: true, quorum_after: true, sentence: 'It can be removed.', ...change });

describe('removing a node', () => {
  it('knows what is dangerous', () => {
    expect(dangerOf(removal())).toBeNull();
    expect(dangerOf(removal({ below_wanted: 2 }))).toBe('thin');
    expect(dangerOf(removal({ below_wanted: 2, last_copies: 1 }))).toBe('loss');
    expect(dangerOf(removal({ quorum_after: false }))).toBe('loss');
  });

  it('needs its name, and nothing more when it is safe', async () => {
    box.getRemoval.mockResolvedValue(removal());
    box.removeNode.mockResolvedValue();
    nodes.value = new Map([['n2', node(2)]]);
    show(<RemoveNode node={node(2)} onClose={() => undefined} />);
    await settle();
    expect(root.textContent).toContain('It can be removed.');
    expect(button('Remove the node').disabled).toBe(true);
    await type(root.querySelector('input')!, 'box-3');
    expect(button('Remove the node').disabled).toBe(true);
    await type(root.querySelector('input')!, 'box-2');
    expect(button('Remove the node').disabled).toBe(false);
    await submit();
    expect(box.removeNode).toHaveBeenCalledWith('n2', false, 0);
    expect(nodes.value.get('n2')?.state).toBe('removed');
  });

  it('needs a tick when something would be lost', async () => {
    box.getRemoval.mockResolvedValue(removal({ last_copies: 3, sentence: 'It holds the only copy of 3 files.' }));
    box.removeNode.mockResolvedValue();
    show(<RemoveNode node={node(2)} onClose={() => undefined} />);
    await settle();
    await type(root.querySelector<HTMLInputElement>('input[type=text]')!, 'box-2');
    expect(button('Remove the node').disabled).toBe(true);
    root.querySelector<HTMLInputElement>('input[type=checkbox]')!.click();
    await settle();
    await submit();
    expect(box.removeNode).toHaveBeenCalledWith('n2', true, 3);
  });

  it('asks for the tick when it became dangerous meanwhile', async () => {
    box.getRemoval.mockResolvedValue(removal());
    box.removeNode.mockRejectedValue(new ApiError({ status: 409, code: 'unsafe_removal', detail: 'Unsafe now.' }));
    show(<RemoveNode node={node(2)} onClose={() => undefined} />);
    await settle();
    await type(root.querySelector('input')!, 'box-2');
    await submit();
    expect(root.textContent).toContain('Unsafe now.');
    expect(root.querySelector('input[type=checkbox]')).not.toBeNull();
    expect(box.getRemoval).toHaveBeenCalledTimes(2);
  });

  it('agrees to what was shown, and asks again when it became more', async () => {
    box.getRemoval.mockResolvedValueOnce(removal({ last_copies: 3 })).mockResolvedValue(removal({ last_copies: 5 }));
    box.removeNode.mockRejectedValueOnce(new ApiError({ status: 409, code: 'unsafe_removal', detail: '5 files now.' })).mockResolvedValue();
    show(<RemoveNode node={node(2)} onClose={() => undefined} />);
    await settle();
    await type(root.querySelector<HTMLInputElement>('input[type=text]')!, 'box-2');
    const tick = (): HTMLInputElement => root.querySelector<HTMLInputElement>('input[type=checkbox]')!;
    tick().click();
    await settle();
    await submit();
    expect(box.removeNode).toHaveBeenLastCalledWith('n2', true, 3);
    expect(root.textContent).toContain('5 files now.');
    expect(tick().checked).toBe(false);
    expect(button('Remove the node').disabled).toBe(true);
    tick().click();
    await settle();
    await submit();
    expect(box.removeNode).toHaveBeenLastCalledWith('n2', true, 5);
  });
});

describe('the doctor', () => {
  const check = (id: string, state: Check['state']): Check => ({ id, state, title: `title ${id}`, detail: `detail ${id}`, remedy: `remedy ${id}` });

  it('says the worst first, with its remedy, and folds away what is fine', () => {
    show(<Checks checks={[check('a', 'ok'), check('b', 'info'), check('c', 'warn'), check('d', 'fail')]} />);
    expect(root.textContent).toContain('2 things need a look');
    expect([...root.querySelectorAll('[data-check]')].map((one) => one.getAttribute('data-check'))).toEqual(['d', 'c', 'b', 'a']);
    expect(root.textContent).toContain('remedy d');
    expect(root.querySelector('details')!.open).toBe(false);
  });

  it('is content with notes alone', () => {
    show(<Checks checks={[check('b', 'info'), check('a', 'ok')]} />);
    expect(root.textContent).toContain('Nothing is wrong');
  });

  it('draws who sees whom, without those who are gone', () => {
    const link = (from: string, to: string): Link => ({ from, to, up: true, address: '', rtt_ms: 1, send_bytes_per_second: 0, receive_bytes_per_second: 0, measured_bytes_per_second: null, measured_at: null, trouble: '' });
    const rows = matrix([node(1), node(2), node(3, { state: 'removed' })], [link('n1', 'n2'), link('n2', 'n1'), link('n3', 'n1')]);
    expect(rows.map((row) => [row.node.id, [...row.to.keys()]])).toEqual([['n1', ['n2']], ['n2', ['n1']]]);
  });
});

describe('where pieces lie', () => {
  const map = (shards: string[][], change: Partial<ShardMap> = {}): ShardMap => ({
    items: shards.map((names, number) => ({ number, rows: 1, blocks: 1, stored_bytes: 1, hash: '', nodes: names.map((id) => ({ id, name: id, state: 'up' })), damaged: false })),
    copies: 2,
    tolerates: 1,
    copies_wanted: 2,
    copies_now: 2,
    may_lose: 1,
    ...change,
  });

  it('has a column for every member, also for those that hold nothing yet', () => {
    expect(nodesOf(map([['n2', 'n1']]), [node(3), node(4, { state: 'removed' })]).map((one) => one.id)).toEqual(['n3', 'n1', 'n2']);
  });

  it('marks what arrived since the last look, and nothing at the first', () => {
    expect([...arrived(null, map([['a']]))]).toEqual([]);
    expect([...arrived(map([['a'], ['b']]), map([['a', 'c'], ['c']]))]).toEqual(['0 c', '1 c']);
  });

  it('says in a sentence what that is worth', () => {
    expect(verdict(map([['a', 'b']]), 3).key).toBe('shards.tolerates');
    expect(verdict(map([['a']], { copies_now: 1, copies_wanted: 1, may_lose: 0 }), 1).key).toBe('shards.alone');
    expect(verdict(map([['a']], { copies_now: 1, copies_wanted: 1, may_lose: 0 }), 3).key).toBe('shards.one_copy');
    expect(verdict(map([['a']], { copies_now: 1, may_lose: 0 }), 3)).toEqual({ tone: 'warning', key: 'shards.moving' });
    expect(verdict(map([['a', 'b']], { copies_wanted: 5 }), 2).key).toBe('shards.waiting');
    expect(verdict(map([['a']], { copies_now: 0, may_lose: 0 }), 3)).toEqual({ tone: 'critical', key: 'shards.unreachable' });
  });
});

describe('the overview', () => {
  it('counts nodes and what may fail', () => {
    expect(strengthText({ total: 1, up: 1, mayFail: 0, minority: false })).toBe('1 of 1 node up');
    expect(strengthText({ total: 3, up: 3, mayFail: 1, minority: false })).toBe('3 of 3 nodes up; any 1 may fail');
    expect(strengthText({ total: 3, up: 2, mayFail: 0, minority: false })).toBe('2 of 3 nodes up; none may fail');
    expect(strengthText({ total: 3, up: 1, mayFail: 0, minority: true })).toContain('too few');
  });
});

describe('a side that cannot save', () => {
  it('says so before anybody tries, and in the words of the box after', () => {
    nodes.value = new Map([node(1), node(2), node(3)].map((one) => [one.id, one]));
    show(<QuorumBanner />);
    expect(root.textContent).toBe('');
    act(() => {
      refusedWrite.value = 'No leader can be found just now.';
    });
    expect(root.textContent).toContain('No leader can be found just now.');
    act(() => {
      refusedWrite.value = '';
      nodes.value = new Map([node(1), node(2, { state: 'unreachable' }), node(3, { state: 'unreachable' })].map((one) => [one.id, one]));
    });
    expect(root.querySelector('[role=alert]')!.textContent).toContain('1 of 3 nodes can be reached');
  });
});
