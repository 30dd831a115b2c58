import { describe, expect, it } from 'vitest';
import { fromHistory, LiveTail, toCsv } from '../../src/lib/series';
import { makeSample } from '../support/fakes';

const history = (step: number) => ({
  node: 'n',
  step_s: step,
  start: '2026-01-01T00:00:00Z',
  end: '2026-01-01T00:05:00Z',
  names: ['t', 'cpu', 'watts'],
  cols: [
    [1767225600, 1767225600 + step],
    [0.1, null],
    [5, 6],
  ],
});
const at = (seconds: number): string => new Date((1767225600 + seconds) * 1000).toISOString();

describe('series', () => {
  it('fills a column the box did not send with gaps', () => {
    const series = fromHistory(history(1));
    expect(series.cols.cpu).toEqual([0.1, null]);
    expect(series.cols.temp_max_c).toEqual([null, null]);
    expect(series.span).toBe(300);
  });

  it('adds each second to a one-second range', () => {
    const tail = new LiveTail();
    const series = tail.add(fromHistory(history(1)), makeSample({ t: at(2), cpu: 0.7 }));
    expect(series.t).toHaveLength(3);
    expect(series.cols.cpu.at(-1)).toBe(0.7);
  });

  it('gathers samples into the mean of a longer step', () => {
    const tail = new LiveTail();
    let series = fromHistory(history(4));
    for (const [seconds, cpu] of [[5, 0.2], [6, 0.4]] as const) {
      const next = tail.add(series, makeSample({ t: at(seconds), cpu }));
      expect(next).toBe(series);
      series = next;
    }
    series = tail.add(series, makeSample({ t: at(8), cpu: 0.6 }));
    expect(series.t).toHaveLength(3);
    expect(series.cols.cpu.at(-1)).toBeCloseTo(0.4);
  });

  it('ignores a sample that is already there', () => {
    const series = fromHistory(history(1));
    expect(new LiveTail().add(series, makeSample({ t: at(1) }))).toBe(series);
  });

  it('drops what is older than the span', () => {
    const tail = new LiveTail();
    const series = tail.add(fromHistory(history(1)), makeSample({ t: at(300.5) }));
    expect(series.t[0]).toBe(1767225601);
  });

  it('exports gaps as empty cells', () => {
    const lines = toCsv(fromHistory(history(1))).split('\r\n');
    expect(lines[0]).toBe('time,cpu,mem_used_bytes,watts,temp_max_c,net_rx_bps,net_tx_bps');
    expect(lines[2]).toBe('2026-01-01T00:00:01.000Z,,,6,,,');
  });
});
