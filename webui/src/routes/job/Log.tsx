// What the job says while it works. Follows its end until somebody scrolls back.
import { useEffect, useRef } from 'preact/hooks';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import type { LogLine } from '../../lib/types-models';
import { Card } from '../../ui/Card';
import css from '../models/models.module.css';

export function Log({ lines }: { lines: readonly LogLine[] }) {
  const box = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  useEffect(() => {
    if (box.current && following.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  const look = (): void => {
    const element = box.current;
    if (element) following.current = element.scrollHeight - element.scrollTop - element.clientHeight < 24;
  };
  return (
    <Card title={t('job.log')}>
      {lines.length === 0 ? (
        <p class={css.sub}>{t('job.log_empty')}</p>
      ) : (
        // A scrolling area must be reachable by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div ref={box} class={css.log} tabIndex={0} role="region" aria-label={t('job.log')} onScroll={look} translate={false}>
          {lines.map((line) => (
            <p key={line.seq} data-level={line.level}>
              <time>{f.time(line.at, true)}</time> <b>{line.level}</b> <span>{line.text}</span>
            </p>
          ))}
        </div>
      )}
    </Card>
  );
}
