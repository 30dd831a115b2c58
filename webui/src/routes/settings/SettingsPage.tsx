// Settings of the box: its name, what the log-in page says, its certificate. An auditor reads them.
import '../../messages/en-access';
import '../../messages/en-gate';
import { useState } from 'preact/hooks';
import * as api from '../../lib/api';
import * as access from '../../lib/api-access';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { cluster, isAdmin, toast } from '../../lib/stores';
import { timeZones } from '../../lib/zones';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Copy } from '../../ui/Copy';
import { Select, TextArea, TextField } from '../../ui/Field';
import { Page } from '../../ui/Page';
import { fieldError, Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useFilled } from '../../ui/useFilled';
import { useLoad } from '../../ui/useLoad';
import css from './settings.module.css';

function Save({ busy, changed }: { busy: boolean; changed: boolean }) {
  return (
    <div>
      <Button type="submit" variant="primary" busy={busy} disabled={!changed}>
        {t('action.save')}
      </Button>
    </div>
  );
}

function BoxSettings() {
  const loaded = useLoad(() => api.getCluster());
  const [name, setName] = useState('');
  const [zone, setZone] = useState('');
  const action = useAction();
  const box = loaded.value?.value;
  const filled = useFilled(box, (value) => {
    setName(value.name);
    setZone(value.time_zone);
  });
  const save = (event: Event): void => {
    event.preventDefault();
    void action.run(async () => {
      const saved = await access.patchCluster({ name: name.trim(), time_zone: zone }, loaded.value?.etag ?? '');
      loaded.set(saved);
      cluster.value = saved.value;
      toast(t('settings.saved'), { tone: 'ok' });
    });
  };
  const changed = !!box && (name.trim() !== box.name || zone !== box.time_zone);
  return (
    <Card title={t('settings.box')}>
      {loaded.error && <Note tone="critical">{loaded.error}</Note>}
      <form class={css.form} novalidate onSubmit={save}>
        <Problem error={action.error} />
        <fieldset disabled={!isAdmin.value || !filled} class={css.form}>
          <TextField label={t('settings.box_name')} value={name} onInput={setName} error={fieldError(action.error, '/name')} maxLength={64} />
          <Select label={t('settings.time_zone')} value={zone} onChange={setZone} options={timeZones(zone)} hint={t('settings.time_zone_hint')} error={fieldError(action.error, '/time_zone')} />
        </fieldset>
        {isAdmin.value && <Save busy={action.busy} changed={changed} />}
      </form>
    </Card>
  );
}

function GeneralSettings() {
  const loaded = useLoad(() => access.getGeneral());
  const [banner, setBanner] = useState('');
  const [idle, setIdle] = useState('15');
  const action = useAction();
  const now = loaded.value?.value;
  const filled = useFilled(now, (value) => {
    setBanner(value.login_banner);
    setIdle(String(value.idle_minutes));
  });
  const save = (event: Event): void => {
    event.preventDefault();
    void action.run(async () => {
      loaded.set(await access.putGeneral({ login_banner: banner, idle_minutes: Number(idle) }, loaded.value?.etag ?? ''));
      toast(t('settings.saved'), { tone: 'ok' });
    });
  };
  const changed = !!now && (banner !== now.login_banner || Number(idle) !== now.idle_minutes);
  return (
    <Card title={t('settings.login')}>
      {loaded.error && <Note tone="critical">{loaded.error}</Note>}
      <form class={css.form} novalidate onSubmit={save}>
        <Problem error={action.error} />
        <fieldset disabled={!isAdmin.value || !filled} class={css.form}>
          <TextArea label={t('settings.banner')} value={banner} onInput={setBanner} hint={t('settings.banner_hint')} error={fieldError(action.error, '/login_banner')} maxLength={2000} />
          <TextField type="number" min={1} max={240} label={t('settings.idle')} value={idle} onInput={setIdle} hint={t('settings.idle_hint')} error={fieldError(action.error, '/idle_minutes')} />
        </fieldset>
        {isAdmin.value && <Save busy={action.busy} changed={changed} />}
      </form>
    </Card>
  );
}

function Certificate() {
  const loaded = useLoad(() => access.getTls());
  const tls = loaded.value;
  return (
    <Card
      title={t('settings.tls')}
      actions={
        <LinkButton small icon="download" href="/ca.crt" download="samovar-ca.crt">
          {t('settings.download_ca')}
        </LinkButton>
      }
    >
      {loaded.error && <Note tone="critical">{loaded.error}</Note>}
      <p class={css.text}>{t('settings.tls_text')}</p>
      {tls && (
        <dl class={css.facts}>
          <dt>{t('settings.tls_names')}</dt>
          <dd>{f.join(tls.names)}</dd>
          <dt>{t('settings.tls_until')}</dt>
          <dd>{f.day(tls.not_after)}</dd>
          <dt>{t('settings.tls_fingerprint')}</dt>
          <dd>
            <Copy value={f.fingerprint(tls.fingerprint_sha256)} label={t('settings.tls_fingerprint')} />
          </dd>
          <dt>{t('settings.tls_ca')}</dt>
          <dd>
            <Copy value={f.fingerprint(tls.web_ca_fingerprint)} label={t('settings.tls_ca')} />
          </dd>
        </dl>
      )}
    </Card>
  );
}

export default function SettingsPage() {
  return (
    <Page title={t('nav.settings')} lead={isAdmin.value ? undefined : t('settings.read_only')}>
      <div class={css.columns}>
        <BoxSettings />
        <GeneralSettings />
      </div>
      <Certificate />
    </Page>
  );
}
