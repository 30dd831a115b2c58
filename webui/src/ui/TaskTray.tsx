// Work that is going on: checks, exports. Finished ones stay a while so that their end is not missed.
import { t } from '../lib/messages';
import { tasks } from '../lib/stores';
import { Badge } from './Badge';
import { Disclosure } from './Disclosure';
import css from './TaskTray.module.css';

const tones = { running: 'info', done: 'ok', failed: 'critical' } as const;

export function TaskTray() {
  const list = tasks.value;
  const running = list.filter((task) => task.state === 'running').length;
  return (
    <Disclosure icon="tray" label={t('tray.label', { count: running })} count={running}>
      {() => (
        <div class={css.tray}>
          <h2>{t('tray.title')}</h2>
          {list.length === 0 && <p class={css.none}>{t('tray.empty')}</p>}
          <ul>
            {list.map((task) => (
              <li key={task.id}>
                <span>{task.title}</span>
                <Badge tone={tones[task.state]} text={t(`tray.${task.state}`)} />
                {task.detail && <small>{task.detail}</small>}
              </li>
            ))}
          </ul>
        </div>
      )}
    </Disclosure>
  );
}
