import { render, type ComponentChild } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { percent } from '../../src/lib/format';
import { dropToast, live, tasks, toast, toasts, tracked } from '../../src/lib/stores';
import { describe as describeChart } from '../../src/ui/Chart';
import { TextField } from '../../src/ui/Field';
import { LivePill } from '../../src/ui/LivePill';
import { Meter } from '../../src/ui/Meter';
import { navItems } from '../../src/ui/nav';
import { PasswordField } from '../../src/ui/PasswordField';
import { sparkPath } from '../../src/ui/Sparkline';
import { Table, sortRows, type Column } from '../../src/ui/Table';
import { Toasts } from '../../src/ui/Toasts';

let root: HTMLElement;
const show = (what: ComponentChild): void => act(() => render(what, root)) as unknown as void;

beforeEach(() => {
  root = document.createElement('div');
  document.body.append(root);
});
afterEach(() => {
  act(() => render(null, root));
  root.remove();
  vi.useRealTimers();
});

interface Row {
  name: string;
  size: number | null;
}
const rows: Row[] = [
  { name: 'b', size: 2 },
  { name: 'a', size: null },
  { name: 'c', size: 10 },
];
const columns: Column<Row>[] = [
  { id: 'name', title: 'Name', main: true, sort: (r) => r.name, cell: (r) => r.name },
  { id: 'size', title: 'Size', numeric: true, sort: (r) => r.size, cell: (r) => r.size ?? '–' },
];

describe('Table', () => {
  it('sorts numbers as numbers and unknown values last', () => {
    expect(sortRows(rows, columns, 'size').map((r) => r.name)).toEqual(['b', 'c', 'a']);
    expect(sortRows(rows, columns, '-name').map((r) => r.name)).toEqual(['c', 'b', 'a']);
    expect(sortRows(rows, columns, 'nothing')).toBe(rows);
  });

  it('turns the order on the second press and says so', () => {
    show(<Table caption="Things" columns={columns} rows={rows} rowKey={(r) => r.name} sortBy="name" />);
    const header = root.querySelector('th')!;
    expect(header.getAttribute('aria-sort')).toBe('ascending');
    act(() => root.querySelector<HTMLButtonElement>('th button')!.click());
    expect(header.getAttribute('aria-sort')).toBe('descending');
    expect([...root.querySelectorAll('tbody th')].map((cell) => cell.textContent)).toEqual(['c', 'b', 'a']);
  });

  it('opens what a row has to say beneath it', () => {
    const expand = { title: 'More', label: (r: Row) => `More of ${r.name}`, content: (r: Row) => `about ${r.name}` };
    show(<Table caption="Things" columns={columns} rows={rows} rowKey={(r) => r.name} expand={expand} />);
    const button = root.querySelector<HTMLButtonElement>('[aria-label="More of b"]')!;
    expect(button.getAttribute('aria-expanded')).toBe('false');
    act(() => button.click());
    expect(button.getAttribute('aria-expanded')).toBe('true');
    expect(root.textContent).toContain('about b');
  });
});

describe('Field', () => {
  it('ties the error to the input', () => {
    show(<TextField label="Name" value="" onInput={() => undefined} error="Give a name" hint="Any name" />);
    const input = root.querySelector('input')!;
    const ids = input.getAttribute('aria-describedby')!.split(' ');
    expect(ids.map((id) => document.getElementById(id)?.textContent)).toEqual(['Any name', 'Give a name']);
    expect(input.getAttribute('aria-invalid')).toBe('true');
    expect(root.querySelector('label')!.htmlFor).toBe(input.id);
  });

  it('shows a password only while asked to', () => {
    show(<PasswordField label="Password" value="x" onInput={() => undefined} />);
    const input = root.querySelector('input')!;
    const button = root.querySelector('button')!;
    expect(input.type).toBe('password');
    act(() => button.click());
    expect(input.type).toBe('text');
    expect(button.getAttribute('aria-pressed')).toBe('true');
  });
});

describe('Sparkline', () => {
  it('ends at the right edge and breaks at gaps', () => {
    expect(sparkPath([0, null, 1], 3, 1)).toBe('M0.0 30.0M120.0 2.0');
    expect(sparkPath([], 3)).toBe('');
  });
});

describe('Chart', () => {
  it('says its values in words', () => {
    const text = describeChart('Processor', [{ label: 'Load', values: [0.1, 0.5, null, 0.3] }], percent);
    expect(text).toBe('Processor. Load: 30% now, between 10% and 50%.');
    expect(describeChart('Power', [{ label: 'Power', values: [null] }], percent)).toContain('no values');
  });
});

describe('Meter', () => {
  it('sets its width without a style attribute in the markup', () => {
    show(<Meter fraction={0.25} label="Disk" />);
    const track = root.querySelector('[role=img]')!;
    expect(track.getAttribute('aria-label')).toBe('Disk: 25%');
    expect(root.querySelector<HTMLElement>('[role=img] > span')!.style.inlineSize).toBe('25%');
  });
});

describe('LivePill', () => {
  it('says since when the connection is lost', () => {
    live.value = { state: 'lost', since: Date.parse('2026-01-01T10:05:00') };
    show(<LivePill />);
    expect(root.textContent).toBe('Connection lost since 10:05');
    live.value = { state: 'connecting', since: 0 };
  });
});

describe('Toasts', () => {
  it('offers Undo, acts on it and goes', () => {
    const undo = vi.fn<() => void>();
    toast('Hidden', { undo });
    show(<Toasts />);
    act(() => root.querySelector<HTMLButtonElement>('button')!.click());
    expect(undo).toHaveBeenCalledOnce();
    expect(toasts.value).toHaveLength(0);
  });

  it('goes by itself after ten seconds, an error does not', () => {
    vi.useFakeTimers();
    toast('Saved');
    const error = toast('Failed', { tone: 'error' });
    show(<Toasts />);
    act(() => void vi.advanceTimersByTime(10_001));
    expect(toasts.value.map((item) => item.text)).toEqual(['Failed']);
    dropToast(error);
  });
});

describe('tasks', () => {
  it('show how the work ended', async () => {
    await tracked('good', () => Promise.resolve(1));
    await tracked('bad', () => Promise.reject(new Error('no disk'))).catch(() => undefined);
    expect(tasks.value.map((task) => [task.title, task.state, task.detail])).toEqual([
      ['bad', 'failed', 'no disk'],
      ['good', 'done', ''],
    ]);
  });
});

describe('navigation', () => {
  it('shows each role only what it may open', () => {
    const pages = (role: Parameters<typeof navItems>[0]) => navItems(role).map((item) => item.href);
    expect(pages('admin')).toContain('/settings');
    expect(pages('viewer')).toEqual(['/', '/nodes', '/power', '/datasets', '/jobs', '/models', '/tokens', '/sessions']);
    expect(pages('analyst')).toContain('/audit');
    expect(pages('analyst')).not.toContain('/users');
  });
});
