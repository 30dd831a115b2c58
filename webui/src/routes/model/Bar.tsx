// A plain bar for sizes that are neither good nor bad; to the left of the middle when they may be negative.
import { useLayoutEffect, useRef } from 'preact/hooks';
import css from '../models/models.module.css';

export function Bar({ share, signed }: { share: number; signed?: boolean }) {
  const bar = useRef<HTMLSpanElement>(null);
  const size = Math.min(1, Math.abs(share)) * (signed ? 50 : 100);
  // The policy forbids style attributes; the property itself may be set.
  useLayoutEffect(() => {
    if (!bar.current) return;
    bar.current.style.inlineSize = `${size}%`;
    bar.current.style.marginInlineStart = signed ? `${share < 0 ? 50 - size : 50}%` : '0';
  }, [size, share, signed]);
  return (
    <span class={signed ? css.barSigned : css.bar} aria-hidden="true">
      <span ref={bar} data-down={share < 0 || undefined} />
    </span>
  );
}
