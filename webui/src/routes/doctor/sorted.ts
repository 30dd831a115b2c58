// Findings in the order somebody should read them.
import type { Check } from '../../lib/types-cluster';

const order: readonly Check['state'][] = ['fail', 'warn', 'info'];

export function sorted(checks: readonly Check[]): { open: Check[]; fine: Check[]; troubles: number } {
  const open = checks.filter((check) => check.state !== 'ok').sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return { open, fine: checks.filter((check) => check.state === 'ok'), troubles: open.filter((check) => check.state !== 'info').length };
}
