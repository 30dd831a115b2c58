// All keyboard shortcuts, and the switch that turns them off.
import '../messages/en-dialogs';
import { t } from '../lib/messages';
import { setShortcuts } from '../lib/prefs';
import { shortcutsOn } from '../lib/stores';
import { Dialog } from './Dialog';
import { Choice } from './Field';
import css from './HelpDialog.module.css';

export default function HelpDialog({ onClose }: { onClose: () => void }) {
  const rows: [string[], string][] = [
    [['g', 'o'], t('nav.overview')],
    [['g', 'n'], t('nav.nodes')],
    [['g', 'd'], t('nav.datasets')],
    [['g', 'j'], t('nav.jobs')],
    [['g', 'm'], t('nav.models')],
    [['g', 'u'], t('nav.users')],
    [['g', 'k'], t('nav.tokens')],
    [['g', 'a'], t('nav.audit')],
    [['g', 's'], t('nav.settings')],
    [['/'], t('help.search')],
    [['?'], t('help.this')],
    [['Esc'], t('help.escape')],
  ];
  return (
    <Dialog title={t('help.title')} onClose={onClose}>
      <dl class={css.keys}>
        {rows.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <Choice kind="checkbox" label={t('help.switch')} detail={t('help.switch_detail')} checked={shortcutsOn.value} onChange={setShortcuts} />
    </Dialog>
  );
}
