import { describe, expect, it } from 'vitest';
import * as f from '../../src/lib/format';

const space = '\u00a0';

describe('format', () => {
  it('scales bytes by 1024 and rates by 1000', () => {
    expect(f.bytes(0)).toBe(`0${space}B`);
    expect(f.bytes(1536)).toBe(`1.50${space}KiB`);
    expect(f.bytes(64 * 1024 ** 3)).toBe(`64${space}GiB`);
    expect(f.bitsPerSecond(1_250_000)).toBe(`1.25${space}Mbit/s`);
    expect(f.energy(1234)).toBe(`1.23${space}kWh`);
  });

  it('shows a dash for what is not known', () => {
    for (const show of [f.bytes, f.watts, f.celsius, f.percent, f.energy]) {
      expect(show(null)).toBe('–');
      expect(show(undefined)).toBe('–');
      expect(show(Number.NaN)).toBe('–');
    }
    expect(f.dateTime(null)).toBe('–');
    expect(f.dateTime('nonsense')).toBe('–');
  });

  it('keeps watts at one decimal below a hundred', () => {
    expect(f.watts(7.25)).toMatch(/^7\.[23]/);
    expect(f.watts(123.4)).toBe(`123${space}W`);
  });

  it('reads times as text and as unix seconds alike', () => {
    expect(f.unixSeconds('2026-01-02T03:04:05Z')).toBe(f.unixSeconds(1767323045));
  });

  it('says how long ago in the largest fitting unit', () => {
    const now = Date.parse('2026-01-02T00:00:00Z');
    expect(f.ago('2026-01-01T23:59:40Z', now)).toBe('just now');
    expect(f.ago('2026-01-01T21:00:00Z', now)).toBe('3 hours ago');
    expect(f.ago('2026-01-05T00:00:00Z', now)).toBe('in 3 days');
  });

  it('says durations in two units', () => {
    expect(f.duration(59)).toBe('59 s');
    expect(f.duration(3 * 3600 + 120)).toBe('3 h 2 min');
    expect(f.duration(2 * 86_400 + 3600)).toBe('2 d 1 h');
  });

  it('counts down like a clock', () => {
    expect(f.countdown(65)).toBe('1:05');
    expect(f.countdown(0.2)).toBe('0:01');
    expect(f.countdown(-3)).toBe('0:00');
  });

  it('groups fingerprints', () => {
    expect(f.fingerprint('ab12cd')).toBe('AB:12:CD');
    expect(f.fingerprint('ab:12:cd')).toBe('AB:12:CD');
  });
});
