// The form of the power settings: nothing can be typed before what is set has arrived, so nothing typed is lost.
import '../../src/messages/en-power';
import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as power from '../../src/lib/api-power';
import { forgetSession, session } from '../../src/lib/stores';
import { Settings } from '../../src/routes/power/Settings';
import { makeSession } from '../support/fakes';

vi.mock('../../src/lib/api-power');
const box = vi.mocked(power);

let root: HTMLElement;
const settle = (): Promise<void> => act(async () => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}) as unknown as Promise<void>;
const closed = (): boolean => root.querySelector('fieldset')!.disabled;
const budget = (): HTMLInputElement => root.querySelector('input')!;
const save = (): HTMLButtonElement => root.querySelector('button[type=submit]')!;

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

describe('power settings', () => {
  it('stay closed until what is set has arrived, then keep what is typed', async () => {
    let arrive!: (settings: Awaited<ReturnType<typeof power.getPowerSettings>>) => void;
    box.getPowerSettings.mockReturnValue(new Promise((resolve) => (arrive = resolve)));
    act(() => render(<Settings onSaved={() => undefined} />, root));
    await settle();
    expect(closed()).toBe(true);

    arrive({ value: { budget_watts: 60, schedule: [], limit_celsius: null, ups: 'auto', ups_watts: null }, etag: '"1"' });
    await settle();
    expect(closed()).toBe(false);
    expect(budget().value).toBe('60');
    expect(save().disabled).toBe(true);

    budget().value = '0.2';
    budget().dispatchEvent(new Event('input', { bubbles: true }));
    await settle();
    expect(budget().value).toBe('0.2');
    expect(save().disabled).toBe(false);
  });
});
