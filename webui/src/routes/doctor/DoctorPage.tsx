// The network doctor: findings with remedies, interfaces, one address, and all links.
import '../../messages/en-doctor';
import { getDoctor } from '../../lib/api-cluster';
import { t } from '../../lib/messages';
import { isAdmin, linksChanged, servedBy } from '../../lib/stores';
import { Button } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Icon } from '../../ui/Icon';
import { Page } from '../../ui/Page';
import { useLoad } from '../../ui/useLoad';
import { Checks } from './Checks';
import { Interfaces } from './Interfaces';
import { LinkMatrix } from './LinkMatrix';
import { Probe } from './Probe';
import css from './doctor.module.css';

function Findings() {
  const loaded = useLoad(getDoctor, [linksChanged.value]);
  const told = loaded.value;
  return (
    <>
      <Card
        title={t('doctor.checks')}
        actions={
          <Button small icon="refresh" busy={loaded.loading} onClick={loaded.reload}>
            {t('doctor.again')}
          </Button>
        }
      >
        {loaded.error && (
          <Note tone="critical" live>
            {loaded.error}
          </Note>
        )}
        {told ? <Checks checks={told.checks} /> : !loaded.error && <p role="status">{t('doctor.looking')}</p>}
      </Card>
      <Probe />
      <LinkMatrix />
      {told && (
        <Card flush title={t('doctor.interfaces')}>
          <Interfaces list={told.interfaces ?? []} />
        </Card>
      )}
    </>
  );
}

export default function DoctorPage() {
  const by = servedBy.value?.name;
  return (
    <Page
      title={t('doctor.title')}
      lead={by ? t('doctor.lead_by', { node: by }) : t('doctor.lead')}
      back={
        <a class={css.back} href="/nodes">
          <Icon name="back" size={16} />
          {t('nav.nodes')}
        </a>
      }
    >
      {isAdmin.value ? <Findings /> : <Note tone="info">{t('doctor.admin_only')}</Note>}
    </Page>
  );
}
