// Seconds until a moment of the box's clock, ticking.
import { useEffect, useState } from 'preact/hooks';
import { unixSeconds } from '../lib/format';
import { serverNow } from '../lib/stores';

export function useSecondsUntil(when: string | null | undefined): number {
  const rest = (): number => (when ? Math.max(0, Math.ceil(unixSeconds(when) - serverNow() / 1000)) : 0);
  const [left, setLeft] = useState(rest);
  useEffect(() => {
    setLeft(rest());
    if (!when) return;
    const timer = setInterval(() => setLeft(rest()), 500);
    return () => clearInterval(timer);
  }, [when]);
  return left;
}
