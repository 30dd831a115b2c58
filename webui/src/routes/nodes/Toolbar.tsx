// Which range the charts show, whether they follow the present, and their values to take along.
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { Button } from '../../ui/Button';
import css from './nodes.module.css';

export const ranges = ['5m', '1h', '24h', '7d', '30d'] as const;

interface ToolbarProps {
  range: string;
  custom: boolean;
  paused: boolean;
  onPause: () => void;
  onCustom: () => void;
  onCsv: () => void;
}

export function Toolbar({ range, custom, paused, onPause, onCustom, onCsv }: ToolbarProps) {
  return (
    <div class={css.toolbar}>
      <div class={css.ranges} role="group" aria-label={t('range.label')}>
        {ranges.map((name) => (
          <button key={name} type="button" aria-pressed={!custom && range === name} onClick={() => setQuery({ range: name, from: undefined, to: undefined })}>
            {t(`range.${name}`)}
          </button>
        ))}
        <button type="button" aria-pressed={custom} onClick={onCustom}>
          {t('range.custom')}
        </button>
      </div>
      <div class={css.tools}>
        {!custom && (
          <Button icon={paused ? 'play' : 'pause'} aria-pressed={paused} onClick={onPause}>
            {t(paused ? 'range.resume' : 'range.pause')}
          </Button>
        )}
        <Button icon="download" onClick={onCsv}>
          {t('range.csv')}
        </Button>
      </div>
    </div>
  );
}
