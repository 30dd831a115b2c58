import '../../src/messages/en-models';
import '../../src/messages/en-data';
import { render, type ComponentChild } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ProfileColumn, SchemaColumn } from '../../src/lib/types-data';
import type { Job, JobSpec, JobWorker, ParameterSchema, WorkerCurves } from '../../src/lib/types-models';
import { byNode, groups, smooth, withPoint, withWorkerPoint, within } from '../../src/routes/job/curves';
import { phaseRows } from '../../src/routes/job/Phases';
import { headline, interval, metricName, metricRows, metricValue, modelName, priorityName } from '../../src/routes/models/words';
import { Events, Workers } from '../../src/routes/job/Workers';
import { Parameter } from '../../src/routes/newjob/Advanced';
import { asCall, asCommand, emptyDraft, fromSpec, goalOf, isGroup, isIdentifier, parameterValue, toSpec } from '../../src/routes/newjob/draft';
import { Inputs } from '../../src/routes/newjob/Inputs';

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

const columns: SchemaColumn[] = [
  { name: 'id', type: 'category', sensitive: false },
  { name: 'patient', type: 'category', sensitive: true },
  { name: 'age', type: 'integer', sensitive: false },
  { name: 'again', type: 'boolean', sensitive: false },
];
const named = { ...emptyDraft('dst_1', 'again'), name: 'again' };

describe('a new job', () => {
  it('asks only for what differs from the defaults', () => {
    expect(toSpec(named, columns)).toEqual({ kind: 'glm', name: 'again', dataset: 'dst_1', target: 'again' });
    const wide = { ...named, left: new Set(['id']), split: 'group' as const, splitColumn: 'patient', test: 0.3, seed: '7', parameters: { l2: 1, l1: undefined } };
    expect(toSpec(wide, columns)).toEqual({ kind: 'glm', name: 'again', dataset: 'dst_1', target: 'again', ignore: ['id'], split: { kind: 'group', column: 'patient', test: 0.3 }, parameters: { l2: 1 }, seed: 7 });
  });

  it('names the few columns that are used, or the few that are not', () => {
    const narrow = toSpec({ ...named, left: new Set(['id', 'patient']) }, columns);
    expect(narrow.inputs).toEqual(['age']);
    expect(narrow.ignore).toBeUndefined();
  });

  it('never takes a column with another role for an input', () => {
    const weighed = toSpec({ ...named, left: new Set(['id', 'patient']), roles: { weight: 'age', offset: '', exposure: '' } }, columns);
    expect(weighed.weight).toBe('age');
    expect(weighed.inputs).toEqual([]);
  });

  it('can be begun again from what ran before', () => {
    const spec: JobSpec = { kind: 'glm', name: 'old', dataset: 'dst_1', target: 'again', inputs: [], ignore: ['id'], split: { kind: 'time', column: 'age' }, parameters: { l2: null, solver: 'lbfgs' }, seed: 1 };
    const draft = fromSpec(spec, columns);
    expect([...draft.left]).toEqual(['id']);
    expect(draft).toMatchObject({ name: 'old', named: true, split: 'time', splitColumn: 'age', parameters: { solver: 'lbfgs' }, seed: '' });
    expect([...fromSpec({ ...spec, inputs: ['age'], ignore: [] }, columns).left]).toEqual(['id', 'patient', 'again']);
  });

  it('is also a command and a call', () => {
    const spec = toSpec({ ...named, left: new Set(['id']), split: 'group', splitColumn: "pa'tient", parameters: { l2: 0.1 }, features: { hash_bits: 20, interactions: [['age', 'ward']] } }, columns);
    const command = asCommand(spec);
    expect(command).toContain("samovar train glm --data dst_1 --target again --name again");
    for (const part of ["--split 'group:pa'\\''tient'", '--ignore id', '--set l2=0.1', '--set features.hash_bits=20', '--interaction age,ward', '--wait']) expect(command).toContain(part);
    expect(asCall(toSpec(named, columns), 'https://box')).toContain(`-d '{"kind":"glm","name":"again","dataset":"dst_1","target":"again"}'`);
  });

  it('says how several nodes work together only when told', () => {
    expect(toSpec(named, columns).nodes).toBeUndefined();
    const wide = toSpec({ ...named, nodesMin: '2', onLost: 'pause', strategy: { tau: 8, codec: undefined } }, columns);
    expect(wide).toMatchObject({ nodes: { min: 2 }, on_lost_node: 'pause', strategy: { tau: 8 } });
    expect(fromSpec(wide, columns)).toMatchObject({ nodesMin: '2', nodesMax: '', onLost: 'pause', strategy: { tau: 8 } });
    expect(fromSpec({ ...wide, strategy: { tau: 8, beta: 0.9 } }, columns, { beta: 0.9 }).strategy).toEqual({ tau: 8 });
  });

  it('knows columns that only name a row from those that name a group', () => {
    const column = (distinct: number, type: ProfileColumn['type'] = 'category'): ProfileColumn => ({ name: 'c', type, missing: 0, distinct });
    expect(isIdentifier(column(1000), 1000)).toBe(true);
    expect(isIdentifier(column(990, 'real'), 1000)).toBe(false);
    expect(isIdentifier(column(600, 'integer'), 1000)).toBe(false);
    expect(isGroup(column(600), 1000)).toBe(true);
    expect(isGroup(column(4), 1000)).toBe(false);
  });

  it('says what a target asks for', () => {
    expect(columns.map(goalOf)).toEqual(['classes', 'classes', 'number', 'binary']);
    expect(modelName('Wiederkehr (30 Tage)?')).toBe('wiederkehr-30-tage');
    expect(modelName('..ünï code')).toBe('u-ni-code');
  });

  it('lets columns be left out', () => {
    const onChange = vi.fn<(left: ReadonlySet<string>) => void>();
    show(<Inputs columns={columns} left={new Set(['id'])} identifiers={new Set(['id'])} onChange={onChange} />);
    expect(root.textContent).toContain('3 of 4 columns are used');
    expect(root.textContent).toContain('names rows');
    const boxes = [...root.querySelectorAll<HTMLInputElement>('input[type=checkbox]')];
    expect(boxes.map((box) => box.checked)).toEqual([false, true, true, true]);
    act(() => boxes[2]!.click());
    expect([...onChange.mock.calls[0]![0]]).toEqual(['id', 'age']);
  });
});

describe('parameters', () => {
  it('are read in the type their schema names', () => {
    expect(parameterValue({ type: ['number', 'null'] }, '0.5')).toBe(0.5);
    expect(parameterValue({ type: 'number' }, '')).toBeUndefined();
    expect(parameterValue({ type: 'number' }, 'much')).toBe('much');
    expect(parameterValue({ type: 'object' }, '{"age":[0,null]}')).toEqual({ age: [0, null] });
    expect(parameterValue({ type: 'object' }, '{')).toBe('{');
    expect(parameterValue({ type: 'string' }, '12')).toBe('12');
  });

  it('are drawn from it, and a default is not sent', () => {
    const schema: ParameterSchema = { type: 'string', title: 'Solver', enum: ['auto', 'irls'], default: 'auto' };
    const onChange = vi.fn<(value: unknown) => void>();
    show(<Parameter name="solver" schema={schema} value="irls" onChange={onChange} />);
    const select = root.querySelector('select')!;
    expect(select.value).toBe('irls');
    act(() => {
      select.value = 'auto';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    expect(onChange).toHaveBeenCalledWith(undefined);
    show(<Parameter name="l1" schema={{ type: 'number', default: 0 }} value={undefined} onChange={onChange} error="too small" />);
    expect(root.querySelector('input')!.placeholder).toBe('0');
    expect(root.textContent).toContain('too small');
  });
});

describe('curves', () => {
  const all = { names: ['step', 'seconds', 'train_loss', 'valid_loss', 'valid_auc', 'rate'], cols: [[1, 2], [0.1, 0.2], [0.6, 0.5], [0.7, null], [null, null], [0.1, 0.1]] };

  it('of the same measure share a chart, and empty ones have none', () => {
    expect(groups(all).map((group) => [group.name, group.curves.length])).toEqual([['loss', 2], ['rate', 1]]);
  });

  it('grow by a point once', () => {
    const more = withPoint(all, ['step', 'train_loss', 'grad'], [3, 0.4, 9]);
    expect(more.cols[0]).toEqual([1, 2, 3]);
    expect(more.cols[3]).toEqual([0.7, null, null]);
    expect(more.names.at(-1)).toBe('grad');
    expect(more.cols.at(-1)).toEqual([null, null, 9]);
    expect(withPoint(more, ['step', 'train_loss'], [3, 0.1])).toBe(more);
    expect(withPoint({ names: [], cols: [] }, ['step'], [1])).toEqual({ names: ['step'], cols: [[1]] });
  });

  it('are smoothed without a pull to zero, and never wholly', () => {
    expect(smooth([2, 2, 2], 0.9)).toEqual([2, 2, 2].map((value) => expect.closeTo(value)));
    expect(smooth([1, null, 3], 0)).toEqual([1, null, 3]);
    const late = smooth([0, 10], 5).at(-1)!;
    expect(late).toBeGreaterThan(4.9);
    expect(late).toBeLessThan(6);
  });

  it('of several nodes share an axis, with their mean', () => {
    const worker = (number: number, xs: number[], ys: (number | null)[]): WorkerCurves => ({ number, node_id: `nod_${number}`, names: ['step', 'train_loss'], cols: [xs, ys] });
    const { x, curves, mean } = byNode([worker(1, [1, 3], [4, 2]), worker(2, [2, 3], [6, null])], 'train_loss', 'step');
    expect(x).toEqual([1, 2, 3]);
    expect(curves).toEqual([[4, null, 2], [null, 6, null]]);
    expect(mean).toEqual([4, 5, 4]);
    expect(byNode([worker(1, [1], [4])], 'watts', 'step').x).toEqual([]);
    const grown = withWorkerPoint([worker(2, [1], [4])], { number: 1, node_id: 'nod_1' }, ['step', 'train_loss'], [1, 9]);
    expect(grown.map((one) => one.number)).toEqual([1, 2]);
    expect(withWorkerPoint(grown, { number: 2, node_id: 'nod_2' }, ['step', 'train_loss'], [2, 3])[1]!.cols).toEqual([[1, 2], [4, 3]]);
  });

  it('leave the counters of workers to the nodes', () => {
    const told = { names: ['step', 'train_loss', 'bytes_sent', 'tau', 'joules', 'samples_per_second'], cols: [[1], [0.5], [7], [3], [9], [100]] };
    expect(groups(told).map((group) => group.name)).toEqual(['loss']);
  });

  it('are cut to what is looked at', () => {
    expect(within([1, null, 3, 4], null)).toEqual([0, 2, 3]);
    expect(within([1, 2, 3, 4], [2, 3])).toEqual([1, 2]);
  });
});

describe('measures', () => {
  it('have names, with the rows they are of', () => {
    expect(metricName('valid_auc')).toBe('AUC, validation');
    expect(metricName('unheard')).toBe('unheard');
    expect(metricValue('accuracy', 0.851)).toBe('85.1%');
    expect(metricValue('auc', 0.74249)).toBe('0.742');
    expect(metricValue('rmse', 1234.5)).toBe('1,234.5');
  });

  it('come with their intervals, the telling ones first', () => {
    const rows = metricRows({ log_loss: 0.41, auc: { value: 0.74, low: 0.72, high: 0.76 }, odd: null });
    expect(rows.map((row) => row.name)).toEqual(['auc', 'log_loss']);
    expect(interval('auc', rows[0]!.told)).toBe('0.720 to 0.760');
    expect(interval('log_loss', rows[1]!.told)).toBe('–');
    expect(headline({ task: 'binary', log_loss: 0.4, auc: 0.74 })).toBe('AUC 0.740');
    expect(headline(null)).toBe('–');
  });
});

describe('priorities', () => {
  it('are three words, and numbers between them', () => {
    expect([-10, 0, 10, 7].map(priorityName)).toEqual(['Low', 'Normal', 'High', '7']);
    expect(toSpec({ ...named, priority: 'high' }, columns).priority).toBe('high');
  });
});

describe('phases', () => {
  const worker = (number: number, step: number, read: number | null): WorkerCurves => ({ number, node_id: `n${number}`, names: ['step', 'step_seconds', 'read_seconds'], cols: [[1, 2], [0, step], [read, null]] });
  it('are the last of each worker, with their mean', () => {
    const rows = phaseRows([worker(1, 4, 1), worker(2, 2, null)], (id) => id.toUpperCase());
    expect(rows.map((row) => [row.who, row.values.step_seconds, row.values.read_seconds])).toEqual([
      ['Mean', 3, 1],
      ['N1', 4, 1],
      ['N2', 2, undefined],
    ]);
    expect(phaseRows([worker(1, 4, 1)], (id) => id)).toHaveLength(1);
    expect(phaseRows([{ number: 1, node_id: 'n1', names: ['step'], cols: [[1]] }], (id) => id)).toEqual([]);
  });
});

describe('workers', () => {
  const worker = (number: number, more: Partial<JobWorker>): JobWorker => ({
    number, node_id: `nod_${number}`, node: `n${number}`, state: 'working', lead: false, blocks: 2, rows: 1000, rows_done: 5000, samples_per_second: 250, loss: 0.5123, bytes_sent: 2048, bytes_received: 1024,
    wait_seconds: 0.4, staleness: 1, watts: 8, watts_estimated: true, joules: 20, since: '2026-11-16T00:00:00Z', error: null, ...more,
  });

  it('show what each node does and takes', () => {
    const job = { workers: [worker(1, { lead: true }), worker(2, { state: 'lost', error: 'it went away', watts: null, samples_per_second: null })] } as Job;
    show(<Workers job={job} />);
    const text = root.textContent ?? '';
    for (const part of ['n1', 'leads', 'Working', 'Lost', 'it went away', 'about', '20 J', '1 at work', 'Power is estimated']) expect(text).toContain(part);
    show(<Workers job={{} as Job} />);
    expect(root.textContent).toBe('');
  });

  it('leave events, the newest first', () => {
    show(<Events events={[{ seq: 1, at: '2026-11-16T00:00:00Z', kind: 'began', node_id: null, text: 'Trains on 3 nodes.' }, { seq: 2, at: '2026-11-16T00:00:09Z', kind: 'lost', node_id: 'nod_3', text: 'Node n3 lost, going on with 2.' }]} />);
    const lines = [...root.querySelectorAll('li')].map((line) => line.textContent ?? '');
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain('going on with 2');
  });
});
