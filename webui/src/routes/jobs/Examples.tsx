// Before the first job: what one could ask for, on the sample data, one press away.
import { getDatasets } from '../../lib/api-data';
import { t } from '../../lib/messages';
import { datasetsChanged } from '../../lib/stores';
import { LinkButton } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { useLoad } from '../../ui/useLoad';
import { mayTrain } from '../models/words';
import css from '../models/models.module.css';

const examples = ['readmitted_30d', 'length_of_stay', 'discharge_to'] as const;

export function Examples() {
  const sets = useLoad(() => getDatasets(false), [datasetsChanged.value]);
  const sample = sets.value?.items.find((set) => /\(sample\)/.test(set.name) && set.may_read_rows);
  return (
    <Card>
      <EmptyState icon="gauge" title={t('jobs.empty')}>
        {t(mayTrain.value ? 'jobs.empty_text' : 'jobs.empty_viewer')}
      </EmptyState>
      {mayTrain.value && (
        <ul class={css.examples}>
          {examples.map((target) => (
            <li key={target}>
              <h2>{t(`example.${target}`)}</h2>
              <p>{t(`example.${target}.text`)}</p>
              {sample ? (
                <LinkButton small href={`/jobs/new?dataset=${encodeURIComponent(sample.id)}&target=${target}`}>
                  {t('example.try')}
                </LinkButton>
              ) : (
                <LinkButton small href="/datasets">
                  {t('example.load')}
                </LinkButton>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
