// Says above every page that nothing can be saved: known from who can be reached, before anybody tries in vain.
import { t } from '../lib/messages';
import { isAdmin, members, refusedWrite } from '../lib/stores';
import { Note } from './Card';
import css from './Page.module.css';

export function QuorumBanner() {
  const { minority, up, total } = members.value;
  if (!minority && !refusedWrite.value) return null;
  return (
    <div class={css.banner} data-banner="quorum">
      <Note tone="critical" live>
        <strong>{t('quorum.title')}</strong>
        <p>{refusedWrite.value && !minority ? refusedWrite.value : t('quorum.text', { count: total, up, total })}</p>
        {isAdmin.value && <a href="/doctor">{t('quorum.doctor')}</a>}
      </Note>
    </div>
  );
}
