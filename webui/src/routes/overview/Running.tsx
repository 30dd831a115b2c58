// What the box is learning now.
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { shownJobs } from '../../lib/stores';
import { Badge } from '../../ui/Badge';
import { LinkButton } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Meter } from '../../ui/Meter';
import { jobText, jobTones } from '../../ui/work';
import css from './OverviewPage.module.css';

const most = 5;

export function Running() {
  const list = shownJobs.value.slice(0, most);
  return (
    <Card
      title={t('running.title')}
      actions={
        list.length > 0 && (
          <LinkButton small variant="quiet" href="/jobs">
            {t('running.all')}
          </LinkButton>
        )
      }
    >
      {list.length === 0 ? (
        <p class={css.sub}>{t('running.none')}</p>
      ) : (
        <ul class={css.running}>
          {list.map((job) => (
            <li key={job.id}>
              <a href={`/jobs/${encodeURIComponent(job.id)}`} translate={false}>
                {job.name}
              </a>
              <Badge tone={jobTones[job.state]} text={jobText(job)} />
              {job.state === 'running' && <Meter plain fraction={job.share} label={job.name} />}
              {job.seconds_left !== null && job.state === 'running' && <small>{t('running.left', { time: f.duration(job.seconds_left) })}</small>}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
