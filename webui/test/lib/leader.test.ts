import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Leader } from '../../src/lib/leader';
import { FakeLocks } from '../support/fake_locks';

beforeEach(() => {
  vi.stubGlobal('navigator', { locks: new FakeLocks() });
});
afterEach(() => vi.unstubAllGlobals());

const settle = async (): Promise<void> => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
};

function tab(log: string[], name: string): Leader {
  return new Leader('stream', {
    lead: (signal) => {
      log.push(`${name} leads`);
      signal.addEventListener('abort', () => log.push(`${name} stops`));
    },
    follow: () => log.push(`${name} follows`),
  });
}

describe('Leader', () => {
  it('lets exactly one tab lead, and the next when it leaves', async () => {
    const log: string[] = [];
    const [a, b] = [tab(log, 'a'), tab(log, 'b')];
    a.start();
    b.start();
    await settle();
    expect([a.leading, b.leading]).toEqual([true, false]);
    a.stop();
    await settle();
    expect([a.leading, b.leading]).toEqual([false, true]);
    expect(log).toEqual(['a follows', 'b follows', 'a leads', 'a stops', 'b leads']);
  });

  it('lets a follower steal, and the old leader wait in line', async () => {
    const log: string[] = [];
    const [a, b] = [tab(log, 'a'), tab(log, 'b')];
    a.start();
    b.start();
    await settle();
    b.steal();
    await settle();
    expect([a.leading, b.leading]).toEqual([false, true]);
    b.stop();
    await settle();
    expect(a.leading).toBe(true);
  });

  it('leads at once where there are no locks', () => {
    vi.stubGlobal('navigator', {});
    const log: string[] = [];
    tab(log, 'a').start();
    expect(log).toEqual(['a leads']);
  });
});
