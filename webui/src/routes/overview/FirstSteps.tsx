// The way to a first prediction: add data, train, use. Shows how far this box has come.
import { useEffect, useState } from 'preact/hooks';
import { countDatasets } from '../../lib/api';
import { t } from '../../lib/messages';
import { datasetsChanged } from '../../lib/stores';
import { LinkButton } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Tick } from './Checklist';
import css from './OverviewPage.module.css';

export function FirstSteps() {
  const [count, setCount] = useState<number | null>(null);
  const changed = datasetsChanged.value;
  useEffect(() => {
    countDatasets().then(setCount, () => setCount(null));
  }, [changed]);
  const some = !!count;
  return (
    <Card title={t('checklist.first')}>
      <ol class={css.checks}>
        <li>
          <Tick done={some} number={1} />
          <div>
            <h3>{t('checklist.data')}</h3>
            <p>{t(some ? 'checklist.data_done' : 'checklist.data_text')}</p>
            <LinkButton small href="/datasets">
              {t('checklist.data_open')}
            </LinkButton>
          </div>
        </li>
        <li>
          <Tick done={false} number={2} />
          <div>
            <h3>{t('checklist.train')}</h3>
            <p>{t('checklist.train_text')}</p>
          </div>
        </li>
        <li>
          <Tick done={false} number={3} />
          <div>
            <h3>{t('checklist.use')}</h3>
            <p>{t('checklist.use_text')}</p>
          </div>
        </li>
      </ol>
    </Card>
  );
}
