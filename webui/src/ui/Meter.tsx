// How full something is. Our own bar: <meter> paints "full" green in some browsers, as if it were good.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { percent } from '../lib/format';
import css from './Meter.module.css';

interface MeterProps {
  fraction: number | null;
  label: string;
  warnAt?: number;
  criticalAt?: number;
  plain?: boolean; // progress: full is good
}

export function Meter({ fraction, label, warnAt = 0.8, criticalAt = 0.92, plain }: MeterProps) {
  const bar = useRef<HTMLSpanElement>(null);
  const value = Math.min(1, Math.max(0, fraction ?? 0));
  // The policy forbids style attributes; the property itself may be set.
  useLayoutEffect(() => {
    if (bar.current) bar.current.style.inlineSize = `${value * 100}%`;
  }, [value]);
  const tone = plain ? '' : value >= criticalAt ? css.critical : value >= warnAt ? css.warning : '';
  return (
    <span class={css.track} role="img" aria-label={`${label}: ${percent(fraction)}`}>
      <span ref={bar} class={`${css.bar} ${tone}`} />
    </span>
  );
}
