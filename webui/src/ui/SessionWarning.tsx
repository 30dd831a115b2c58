// Two minutes before the session ends by itself, says so and offers to stay (WCAG 2.2.1).
import { useEffect, useState } from 'preact/hooks';
import { endsForGood, secondsLeft, sessionEnded, stay } from '../lib/auth';
import { passwordPrompt, session } from '../lib/stores';
import { dialogs } from './dialogs';
import { Lazy } from './Lazy';

const warnAt = 120;

export function SessionWarning() {
  const [left, setLeft] = useState(Number.POSITIVE_INFINITY);
  const [hidden, setHidden] = useState(false);
  const current = session.value;
  useEffect(() => {
    if (!current) return;
    const tick = (): void => {
      const rest = secondsLeft();
      setLeft(rest);
      if (rest > warnAt) setHidden(false);
      if (rest <= 0) void sessionEnded();
    };
    tick();
    const timer = setInterval(tick, 1000);
    return () => clearInterval(timer);
  }, [current]);
  if (!current || hidden || passwordPrompt.value || left > warnAt || left <= 0) return null;
  const final = endsForGood();
  const keep = (): void => void (final ? setHidden(true) : stay().catch(() => undefined));
  return <Lazy load={dialogs.expiry} props={{ left, final, onStay: keep }} />;
}
