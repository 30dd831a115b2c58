// The way to a first prediction: add data, train, use. Shows how far this box has come.
import { useEffect, useState } from 'preact/hooks';
import { countOf } from '../../lib/api';
import { t } from '../../lib/messages';
import { datasetsChanged, modelsChanged } from '../../lib/stores';
import { LinkButton } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Tick } from './Checklist';
import css from './OverviewPage.module.css';

function useSome(list: 'datasets' | 'models', changed: number): boolean {
  const [some, setSome] = useState(false);
  useEffect(() => {
    countOf(list).then((count) => setSome(count > 0), () => setSome(false));
  }, [list, changed]);
  return some;
}

export function FirstSteps() {
  const data = useSome('datasets', datasetsChanged.value);
  const model = useSome('models', modelsChanged.value);
  return (
    <Card title={t('checklist.first')}>
      <ol class={css.checks}>
        <li>
          <Tick done={data} number={1} />
          <div>
            <h3>{t('checklist.data')}</h3>
            <p>{t(data ? 'checklist.data_done' : 'checklist.data_text')}</p>
            <LinkButton small href="/datasets">
              {t('checklist.data_open')}
            </LinkButton>
          </div>
        </li>
        <li>
          <Tick done={model} number={2} />
          <div>
            <h3>{t('checklist.train')}</h3>
            <p>{t(model ? 'checklist.train_done' : 'checklist.train_text')}</p>
            {data && (
              <LinkButton small href="/jobs/new">
                {t('checklist.train_open')}
              </LinkButton>
            )}
          </div>
        </li>
        <li>
          <Tick done={false} number={3} />
          <div>
            <h3>{t('checklist.use')}</h3>
            <p>{t('checklist.use_text')}</p>
            {model && (
              <LinkButton small href="/models">
                {t('checklist.use_open')}
              </LinkButton>
            )}
          </div>
        </li>
      </ol>
    </Card>
  );
}
