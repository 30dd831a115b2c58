// The head every page shares: one h1, which takes the focus after a jump so that a reader starts at the top.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../lib/messages';
import { cluster } from '../lib/stores';
import css from './Page.module.css';

let firstPage = true;
export function forgetFirstPage(): void {
  firstPage = false;
}

interface PageProps {
  title: string;
  lead?: ComponentChildren;
  actions?: ComponentChildren;
  back?: ComponentChildren;
  children: ComponentChildren;
  focusKey?: string;
}

export function Page({ title, lead, actions, back, children, focusKey }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const box = cluster.value?.name;
  useEffect(() => {
    document.title = t(box ? 'frame.title_box' : 'frame.title', { page: title, box: box ?? '' });
  }, [title, box]);
  useEffect(() => {
    // The browser's own start of a fresh page is right; only our jumps need help.
    if (!firstPage) {
      heading.current?.focus();
      scrollTo(0, 0);
    }
    firstPage = false;
  }, [focusKey]);
  return (
    <div class={css.page}>
      {back}
      <div class={css.head}>
        <div class={css.words}>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {lead && <div class={css.lead}>{lead}</div>}
        </div>
        {actions && <div class={css.actions}>{actions}</div>}
      </div>
      {children}
    </div>
  );
}
