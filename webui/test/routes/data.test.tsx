import '../../src/messages/en-data';
import { render, type ComponentChild } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DatasetDetail, FoundColumn, ProfileColumn, SchemaColumn, ShardMap } from '../../src/lib/types-data';
import { barsPath, Mini } from '../../src/routes/dataset/Bars';
import { parseCsv } from '../../src/routes/dataset/csv';
import { Rows } from '../../src/routes/dataset/Rows';
import { nodesOf } from '../../src/routes/dataset/shard-map';
import { bins, describeColumn, levelBins, valueText } from '../../src/routes/dataset/values';
import { changesOf, checkNames, ColumnEditor, type Edits } from '../../src/routes/datasets/ColumnEditor';
import { nameFromFile } from '../../src/routes/datasets/names';
import { signName } from '../../src/routes/datasets/ReadingOptions';

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
  { name: 'age', type: 'integer', sensitive: false },
  { name: 'ward', type: 'category', sensitive: false },
];

describe('names of data sets', () => {
  it('come from files, without their endings', () => {
    expect(nameFromFile('ward_4-readmissions.csv.gz')).toBe('ward 4-readmissions');
    expect(nameFromFile('plain')).toBe('plain');
    expect(nameFromFile('.csv')).toBe('.csv');
    expect(nameFromFile(`${'x'.repeat(300)}.csv`)).toHaveLength(120);
  });
});

describe('changes of columns', () => {
  it('are only what differs', () => {
    const edits: Edits = { age: { rename: 'age ', type: 'real' }, ward: { type: 'category', sensitive: false } };
    expect(changesOf(columns, edits)).toEqual([{ column: 'age', type: 'real' }]);
    expect(changesOf(columns, { ward: { rename: 'unit', sensitive: true } })).toEqual([{ column: 'ward', rename: 'unit', sensitive: true }]);
  });

  it('must leave each column a name of its own', () => {
    expect(checkNames(columns, {})).toBe('');
    expect(checkNames(columns, { age: { rename: ' ' } })).toContain('needs a name');
    expect(checkNames(columns, { age: { rename: 'ward' } })).toContain('Two columns');
    expect(checkNames(columns, { age: { rename: 'ward' }, ward: { rename: 'age' } })).toBe('');
  });

  it('are made in the table, beside the evidence', () => {
    const found: FoundColumn[] = [
      { ...columns[0]!, evidence: 'all 9 values are whole numbers', examples: ['1', '2'], missing: 3, constant: false, identifier: true, sensitive_reason: '' },
    ];
    const onChange = vi.fn<(edits: Edits) => void>();
    show(<ColumnEditor columns={found} edits={{}} onChange={onChange} rows={12} />);
    expect(root.textContent).toContain('all 9 values are whole numbers');
    expect(root.textContent).toContain('Identifier');
    expect(root.textContent).toContain('25%');
    const select = root.querySelector('select')!;
    expect(select.getAttribute('aria-label')).toBe('Type of age');
    act(() => {
      select.value = 'real';
      select.dispatchEvent(new Event('change', { bubbles: true }));
    });
    expect(onChange).toHaveBeenCalledWith({ age: { type: 'real' } });
  });

  it('are offered in portions when there are thousands', () => {
    const wide = Array.from({ length: 4000 }, (_, n): SchemaColumn => ({ name: `c${n}`, type: 'real', sensitive: false }));
    show(<ColumnEditor columns={wide} edits={{}} onChange={() => undefined} />);
    expect(root.querySelectorAll('tbody tr')).toHaveLength(50);
    expect(root.textContent).toContain('Show 3950 more');
  });
});

describe('a profile', () => {
  const age: ProfileColumn = { name: 'age', type: 'integer', missing: 2, min: 10, max: 30, quantiles: { '0.5': 21 }, histogram: { edges: [10, 20, 30], counts: [1, 4] } };
  const ward: ProfileColumn = { name: 'ward', type: 'category', missing: 0, levels: [{ value: 'A', count: 60 }, { value: 'B', count: 30 }], other: 10 };

  it('draws every count above nothing', () => {
    expect(barsPath([0, 0])).toBe('');
    expect(barsPath([100, 0, 1])).toBe('M0.06 100v-100.0h0.88v100.0zM2.06 100v-3.0h0.88v3.0z');
  });

  it('says in words what it draws', () => {
    expect(describeColumn(age, 100)).toBe('age: from 10 to 30, half below 21.');
    expect(describeColumn(ward, 100)).toBe('ward, most common: A 60%, B 30%.');
    expect(describeColumn({ name: 'n', type: 'text', missing: 0 }, 100)).toContain('no values');
    show(<Mini column={age} rows={100} />);
    expect(root.querySelector('[role=img]')!.getAttribute('aria-label')).toBe('age: from 10 to 30, half below 21.');
  });

  it('shows two levels rather than a histogram of yes and no, and no list where all differ', () => {
    const yes: ProfileColumn = { name: 'again', type: 'boolean', missing: 0, min: 0, max: 1, histogram: { edges: [0, 1, 2], counts: [70, 30] }, levels: [{ value: 'no', count: 70 }, { value: 'yes', count: 30 }] };
    expect(describeColumn(yes, 100)).toBe('again, most common: no 70%, yes 30%.');
    const names: ProfileColumn = { name: 'name', type: 'text', missing: 0, distinct: 90, levels: [{ value: 'Ada', count: 1 }], other: 89 };
    show(<Mini column={names} rows={90} />);
    expect(root.textContent).toBe('nearly all differ');
  });

  it('has bins and levels as a table would', () => {
    expect(bins(age)).toEqual([{ label: '10 to 20', count: 1 }, { label: '20 to 30', count: 4 }]);
    expect(levelBins(ward).at(-1)).toEqual({ label: 'All others', count: 10 });
  });

  it('reads values by their type', () => {
    expect(valueText(1_700_000_000_000_000, 'time')).toContain('2023');
    expect(valueText(Date.UTC(2024, 0, 3) * 1000, 'time')).toBe('3 Jan 2024');
    expect(valueText(1234567, 'integer')).toBe('1,234,567');
    expect(valueText(0.123456789, 'real')).toBe('0.12346');
    expect(valueText(null, 'real')).toBe('–');
    expect(valueText('x', 'category')).toBe('x');
  });
});

describe('rows', () => {
  it('are withheld in words from those who may not read them', () => {
    show(<Rows set={{ id: 'dst_1', may_read_rows: false, owner: 'grace', revision: 1 } as DatasetDetail} version={1} />);
    expect(root.textContent).toContain('not yours to see');
    expect(root.textContent).toContain('grace');
  });
});

describe('small readers', () => {
  it('cut CSV as the box writes it', () => {
    expect(parseCsv('line,reason,text\n4,"a, ""b""","x\ny"\n', 10)).toEqual([
      ['line', 'reason', 'text'],
      ['4', 'a, "b"', 'x\ny'],
    ]);
    expect(parseCsv('a\nb\nc\n', 2)).toEqual([['a'], ['b']]);
    expect(parseCsv('', 5)).toEqual([]);
    expect(parseCsv('a,b', 5)).toEqual([['a', 'b']]);
  });

  it('list every node of a shard map once', () => {
    const shard = (number: number, names: string[]): ShardMap['items'][number] => ({ number, rows: 1, blocks: 1, stored_bytes: 1, hash: '', nodes: names.map((name) => ({ id: name, name, state: 'up' })), damaged: false });
    expect(nodesOf({ items: [shard(0, ['b10', 'b2']), shard(1, ['b2', 'b1'])], copies: 2, tolerates: 1, copies_wanted: 2, copies_now: 2, may_lose: 1 }).map((node) => node.name)).toEqual(['b1', 'b2', 'b10']);
  });

  it('name the signs of a file', () => {
    expect(signName('\t')).toBe('tab');
    expect(signName('~')).toBe('“~”');
  });
});
