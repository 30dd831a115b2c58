// A component that arrives later. Once it is here it renders at once.
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../lib/messages';
import { Button } from './Button';
import { EmptyState } from './EmptyState';

// The props of a lazy part are checked where it is used; the cache holds parts of all kinds.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;
export type Loader<P> = () => Promise<{ default: ComponentType<P> }>;

const ready = new Map<Loader<Any>, ComponentType<Any>>();

export function Lazy<P>({ load, props }: { load: Loader<P>; props: P }) {
  const [, repaint] = useState(0);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (ready.has(load)) return;
    setFailed(false);
    load().then(
      (module) => {
        ready.set(load, module.default);
        repaint((n) => n + 1);
      },
      () => setFailed(true),
    );
  }, [load]);
  const Found = ready.get(load);
  if (Found) return <Found {...props} />;
  if (!failed) return <p class="visually-hidden">{t('frame.loading')}</p>;
  return (
    <EmptyState icon="warning" title={t('frame.page_failed')} action={<Button onClick={() => location.reload()}>{t('action.reload')}</Button>}>
      {t('frame.page_failed_text')}
    </EmptyState>
  );
}
