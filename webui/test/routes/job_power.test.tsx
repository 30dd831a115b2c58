import '../../src/messages/en-models';
import { render, type ComponentChild } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deviceRows } from '../../src/routes/job/Devices';
import { Late, giveOrTake, powerRows } from '../../src/routes/job/Power';
import { asCommand, emptyDraft, fromSpec, toSpec } from '../../src/routes/newjob/draft';
import { PowerChoice, estimateOfPower } from '../../src/routes/newjob/PowerChoice';
import { makeJob } from '../support/fakes';

let root: HTMLElement;
const show = (what: ComponentChild): void => act(() => render(what, root)) as unknown as void;
beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
});
afterEach(() => {
  act(() => render(null, root));
  root.remove();
});

const named = { ...emptyDraft('dst_1', 'again'), name: 'again' };
const asked = { mode: 'full' as const, watts: 60, finish_by: '06:00', deadline: '2026-11-18T05:00:00Z', granted_watts: 60, late: true, needed_watts: 85 };

describe('the power of a new job', () => {
  it('is asked for only when something was chosen, here and at a terminal', () => {
    expect(toSpec(named, []).power).toBeUndefined();
    const spec = toSpec({ ...named, watts: '60', finishBy: '06:00', powerMode: 'gentle' }, []);
    expect(spec.power).toEqual({ mode: 'gentle', watts: 60, finish_by: '06:00' });
    for (const part of ['--watts 60', '--finish-by 06:00', '--gentle']) expect(asCommand(spec)).toContain(part);
  });

  it('comes again with a time of day, not with a moment that is over', () => {
    const before = { kind: 'glm', name: 'old', dataset: 'dst_1', target: 'again' };
    expect(fromSpec({ ...before, power: { watts: 60, finish_by: '06:00' } }, [])).toMatchObject({ watts: '60', finishBy: '06:00', powerMode: 'full' });
    expect(fromSpec({ ...before, power: { finish_by: '2026-11-18T05:00:00Z' } }, []).finishBy).toBe('');
  });

  it('says beside each field what is wrong with it', () => {
    const change = vi.fn<(change: object) => void>();
    show(<PowerChoice draft={named} fault={(pointer) => (pointer === '/power/watts' ? 'too little' : undefined)} onChange={change} />);
    expect(root.textContent).toContain('too little');
    const [watts] = root.querySelectorAll('input');
    watts!.value = '60';
    watts!.dispatchEvent(new Event('input', { bubbles: true }));
    expect(change).toHaveBeenCalledWith({ watts: '60' });
  });

  it('is estimated: kept, not kept, with what would do', () => {
    const estimate = { seconds: 10, watt_hours: 1, memory_bytes: 1, basis: 'measured' };
    expect(estimateOfPower(estimate)).toBeNull();
    show(estimateOfPower({ ...estimate, watts: 42 }));
    expect(root.textContent).toContain('42');
    show(estimateOfPower({ ...estimate, watts: 42, deadline: '2026-11-18T05:00:00Z', in_time: true }));
    expect(root.textContent).toContain('can be kept with about');
    show(estimateOfPower({ ...estimate, deadline: '2026-11-18T05:00:00Z', in_time: false, ends_at: '2026-11-18T06:00:00Z', needed_watts: 85 }));
    expect(root.textContent).toContain('85');
    show(estimateOfPower({ ...estimate, deadline: '2026-11-18T05:00:00Z', in_time: false, ends_at: '2026-11-18T06:00:00Z', needed_watts: null }));
    expect(root.textContent).toContain('not even at full speed');
  });
});

describe('the power of a job', () => {
  it('is shown with its error, its limit and its deadline', () => {
    expect(giveOrTake(1.5, 0.03)).toMatch(/1\.5.*±.*0\.03/);
    expect(giveOrTake(0.001, 0.1)).not.toContain('±');
    const names = (job: ReturnType<typeof makeJob>): string[] => powerRows(job).map(([name]) => name);
    expect(names(makeJob())).toEqual([]);
    expect(names(makeJob({ power: asked, box_watts: 58 }))).toEqual(['All nodes drew, on average', 'Power asked for', 'Finish by', 'May draw now']);
    const kept = powerRows(makeJob({ state: 'done', power: asked, summary: { in_time: false } }));
    expect(kept.at(-1)![1]).toContain('missed');
  });

  it('says that the limit wins while it runs', () => {
    show(<Late job={makeJob({ power: asked })} />);
    expect(root.textContent).toContain('wins');
    expect(root.textContent).toContain('85');
    show(<Late job={makeJob({ state: 'done', power: asked })} />);
    expect(root.textContent).toBe('');
    show(<Late job={makeJob({ power: { ...asked, watts: null, granted_watts: null, needed_watts: null } })} />);
    expect(root.textContent).toContain('not even at full speed');
  });
});

describe('the device of a job', () => {
  it('is asked for only when one was chosen, comes again, and is said at a terminal', () => {
    expect(toSpec(named, []).device).toBeUndefined();
    const spec = toSpec({ ...named, device: 'gpu' }, []);
    expect(spec.device).toBe('gpu');
    expect(asCommand(spec)).toContain('--device gpu');
    expect(fromSpec(spec, []).device).toBe('gpu');
  });

  it('is shown by node, with why it is not the GPU', () => {
    expect(deviceRows(makeJob())).toEqual([]);
    const one = { node_id: 'abcd1234', node: 'kitchen', device: 'cuda Orin', note: null };
    expect(deviceRows(makeJob({ devices: [one] }))).toEqual([['Computes on', 'cuda Orin']]);
    const [row] = deviceRows(makeJob({ devices: [one, { ...one, node: null, device: 'cpu neon', note: 'the GPU failed' }] }));
    expect(row![1]).toBe('kitchen: cuda Orin, ABCD: cpu neon (the GPU failed)');
  });
});
