// How much work is going on, and behind a press the list of it.
import { t } from '../lib/messages';
import { isWorking, jobs, operations, scorings, sendingNow, tasks } from '../lib/stores';
import { dialogs } from './dialogs';
import { Disclosure } from './Disclosure';
import { Lazy } from './Lazy';

export function TaskTray() {
  const running = tasks.value.filter((task) => task.state === 'running').length + sendingNow.value + [...operations.value.values(), ...jobs.value.values(), ...scorings.value.values()].filter(isWorking).length;
  return (
    <Disclosure icon="tray" label={t('tray.label', { count: running })} count={running}>
      {() => <Lazy load={dialogs.tray} props={{}} />}
    </Disclosure>
  );
}
