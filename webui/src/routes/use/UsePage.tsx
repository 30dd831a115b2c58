// A model at work: one case by hand, many at once, from a program, or taken away.
import '../../messages/en-models';
import { useState } from 'preact/hooks';
import * as models from '../../lib/api-models';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { mayUpload, modelsChanged, place } from '../../lib/stores';
import type { ModelDetail, ModelVersion } from '../../lib/types-models';
import { Badge } from '../../ui/Badge';
import { LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { EmptyState } from '../../ui/EmptyState';
import { Select } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { Page } from '../../ui/Page';
import { useLoad } from '../../ui/useLoad';
import { Snippet } from '../models/Snippet';
import { headline, modelAddress, stageText, stageTones } from '../models/words';
import { Batch } from './Batch';
import { curlText, exampleRow, pythonText, toRow } from './rows';
import { TakeAway } from './TakeAway';
import { TryIt } from './TryIt';
import css from '../models/models.module.css';

const targetOf = (version: ModelVersion): string => {
  const told = version.signature?.target;
  return version.spec?.target ?? (typeof told === 'string' ? told : told?.name) ?? '';
};

function Parts({ model, version }: { model: ModelDetail; version: ModelVersion }) {
  const inputs = version.signature?.inputs ?? [];
  const [row, setRow] = useState(() => toRow(inputs, exampleRow(inputs)));
  return (
    <>
      <TryIt model={model.name} version={version.version} target={targetOf(version)} inputs={inputs} onRow={setRow} />
      {mayUpload.value && <Batch model={model.name} version={version.version} />}
      <Card title={t('program.title')}>
        <div class={css.form}>
          <p class={css.sub}>{t('program.text')}</p>
          <div class={css.row}>
            <LinkButton small icon="key" href="/tokens">
              {t('program.token')}
            </LinkButton>
            <LinkButton small icon="download" href="/ca.crt" download="samovar-ca.crt">
              {t('settings.download_ca')}
            </LinkButton>
          </div>
          <Snippet named title="curl" text={curlText(location.origin, model.name, row)} />
          <Snippet named title="Python" text={pythonText(location.origin, model.name, row)} />
        </div>
      </Card>
      {model.may_export && <TakeAway model={model.name} version={version.version} />}
    </>
  );
}

function Detail({ model }: { model: ModelDetail }) {
  const asked = Number(place.value.query.get('version')) || model.serving || model.version;
  const version = model.versions.find((one) => one.version === asked) ?? model.versions[0];
  if (!version) return null;
  return (
    <Page
      title={t('use.title', { name: model.name })}
      focusKey={model.name}
      lead={
        <>
          <Badge tone={stageTones[version.stage]} text={stageText(version)} /> {t('job.predicts', { target: targetOf(version) })} {headline(version.headline)}
        </>
      }
      back={
        <a class={css.back} href={modelAddress(model.name)} translate={false}>
          <Icon name="back" size={16} />
          {model.name}
        </a>
      }
    >
      {model.versions.length > 1 && (
        <div class={css.pick}>
          <Select
            label={t('model.version')}
            value={String(version.version)}
            onChange={(value) => setQuery({ version: value })}
            options={model.versions.map((one) => ({ value: String(one.version), label: t('model.version_option', { version: one.version, stage: stageText(one), quality: headline(one.headline) }) }))}
          />
        </div>
      )}
      {model.may_use ? <Parts key={version.version} model={model} version={version} /> : <Note tone="info">{t('use.not_allowed', { owner: model.owner })}</Note>}
    </Page>
  );
}

export default function UsePage({ id = '' }: { id?: string }) {
  const loaded = useLoad(() => models.getModel(id), [id, modelsChanged.value]);
  const found = loaded.value?.value;
  if (found) return <Detail model={found} />;
  return (
    <Page title={t('model.title')}>
      {loaded.error && <EmptyState icon="model" title={t('model.unknown')}>{loaded.error}</EmptyState>}
    </Page>
  );
}
