// Which files the box can read, in its own words.
import { getFormats } from '../../lib/api-data';
import { t } from '../../lib/messages';
import { Badge } from '../../ui/Badge';
import { Card } from '../../ui/Card';
import { useLoad } from '../../ui/useLoad';
import css from './datasets.module.css';

export function Formats({ open }: { open: boolean }) {
  const loaded = useLoad(getFormats);
  if (!loaded.value) return null;
  return (
    <Card>
      <details class={css.formats} open={open}>
        <summary>{t('formats.title')}</summary>
        <p class={css.sub}>{t('formats.text')}</p>
        <dl>
          {loaded.value.items.map((one) => (
            <div key={one.id}>
              <dt translate={false}>
                {one.name} <span class={css.sub}>{one.extensions.join(' ')}</span>
              </dt>
              <dd>
                {!one.supported && <Badge tone="neutral" text={t('formats.not')} />} {one.notes}
              </dd>
            </div>
          ))}
        </dl>
      </details>
    </Card>
  );
}
