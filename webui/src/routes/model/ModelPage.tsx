// One model: how good it is, what it goes by, its versions, who may use it; and all of it on paper.
import '../../messages/en-models';
import '../../messages/en-data';
import { useState } from 'preact/hooks';
import * as models from '../../lib/api-models';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { modelsChanged, place } from '../../lib/stores';
import type { Evaluation, ModelDetail, ModelVersion } from '../../lib/types-models';
import { Badge } from '../../ui/Badge';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { Dialog } from '../../ui/Dialog';
import { EmptyState } from '../../ui/EmptyState';
import { Select, TextArea } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { Page } from '../../ui/Page';
import { Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useLoad } from '../../ui/useLoad';
import { Access } from '../dataset/Access';
import { datasetAddress, headline, jobAddress, kindName, modelAddress, stageText, stageTones } from '../models/words';
import { EvaluationView } from './EvaluationView';
import { Versions } from './Versions';
import { Coefficients, Importance } from './Weights';
import css from '../models/models.module.css';

const tabs = ['evaluation', 'inputs', 'versions', 'access', 'card'] as const;
type Tab = (typeof tabs)[number];

function Lineage({ model, version }: { model: ModelDetail; version: ModelVersion }) {
  return (
    <Card title={t('model.about')}>
      <dl class={css.facts}>
        <div>
          <dt>{t('model.version')}</dt>
          <dd>
            {f.number(version.version)}, {stageText(version)}
          </dd>
        </div>
        <div>
          <dt>{t('job.kind')}</dt>
          <dd>{kindName(model.kind)}</dd>
        </div>
        {version.spec?.target && (
          <div>
            <dt>{t('newjob.target')}</dt>
            <dd translate={false}>{version.spec.target}</dd>
          </div>
        )}
        <div>
          <dt>{t('model.quality')}</dt>
          <dd>{headline(version.headline, 3)}</dd>
        </div>
        <div>
          <dt>{t('job.owner')}</dt>
          <dd translate={false}>{model.owner}</dd>
        </div>
        <div>
          <dt>{t('job.created')}</dt>
          <dd>
            {f.dateTime(version.created_at)}
            {!version.created_by.startsWith('usr_') && <span translate={false}>, {version.created_by}</span>}
          </dd>
        </div>
        {version.dataset_id && (
          <div>
            <dt>{t('job.data')}</dt>
            <dd>
              <a href={`${datasetAddress(version.dataset_id)}?version=${version.dataset_version}`} translate={false}>
                {version.dataset ?? version.dataset_id}
              </a>
              , {t('model.version_n', { version: version.dataset_version ?? 1 })}
            </dd>
          </div>
        )}
        <div>
          <dt>{t('model.from')}</dt>
          <dd>{version.job_id ? <a href={jobAddress(version.job_id)}>{t('model.job')}</a> : t('model.imported')}</dd>
        </div>
        {version.dataset_hash && (
          <div>
            <dt>{t('model.data_hash')}</dt>
            <dd>
              <code class={css.any}>{version.dataset_hash}</code>
            </dd>
          </div>
        )}
        <div>
          <dt>{t('model.code')}</dt>
          <dd>{version.code_version}</dd>
        </div>
      </dl>
    </Card>
  );
}

function Describe({ model, etag, onClose, onDone }: { model: ModelDetail; etag: string; onClose: () => void; onDone: () => void }) {
  const [text, setText] = useState(model.description);
  const action = useAction();
  const save = (): void =>
    void action.run(async () => {
      await models.patchModel(model.name, { description: text.trim() }, etag);
      onDone();
      onClose();
    });
  return (
    <Dialog
      title={t('model.edit_title', { name: model.name })}
      onClose={onClose}
      onSubmit={save}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button type="submit" variant="primary" busy={action.busy}>
            {t('action.save')}
          </Button>
        </>
      }
    >
      <div class={css.form}>
        <Problem error={action.error} />
        <TextArea label={t('model.description')} hint={t('model.description_hint')} value={text} maxLength={2000} rows={5} onInput={setText} />
      </div>
    </Dialog>
  );
}

function Tabs({ now, shown }: { now: Tab; shown: readonly Tab[] }) {
  const link = (tab: Tab): string => {
    const query = new URLSearchParams(place.value.query);
    if (tab === 'evaluation') query.delete('tab');
    else query.set('tab', tab);
    const text = query.toString();
    return `${place.value.path}${text ? `?${text}` : ''}`;
  };
  return (
    <nav class={css.tabs} aria-label={t('model.parts')}>
      {shown.map((tab) => (
        <a key={tab} href={link(tab)} aria-current={tab === now ? 'page' : undefined}>
          {t(`model.tab.${tab}`)}
        </a>
      ))}
    </nav>
  );
}

// Everything a person who has to answer for the model may be asked, on one sheet.
function ModelCard({ model, version, told }: { model: ModelDetail; version: ModelVersion; told: Evaluation }) {
  return (
    <>
      <div class={css.noPrint}>
        <Button icon="audit" onClick={() => globalThis.print()}>
          {t('card.print')}
        </Button>
      </div>
      {model.description ? <p>{model.description}</p> : <p class={css.sub}>{t('card.no_description')}</p>}
      <Lineage model={model} version={version} />
      <EvaluationView told={told} classes={[]} />
      <Importance told={told} />
    </>
  );
}

function Part({ tab, model, version, reload }: { tab: Tab; model: ModelDetail; version: ModelVersion; reload: () => void }) {
  const loaded = useLoad(() => models.getEvaluation(model.name, version.version), [model.name, version.version]);
  if (tab === 'versions') return <Versions model={model} reload={reload} />;
  if (tab === 'access') {
    return <Access set={model} text={t('model.access_text', { owner: model.owner })} give={(user) => models.grantModel(model.name, user)} take={(user) => models.revokeModel(model.name, user)} onChange={reload} />;
  }
  const told = loaded.value;
  if (loaded.error) return <Note tone="warning">{loaded.error}</Note>;
  if (!told) return null;
  if (tab === 'card') return <ModelCard model={model} version={version} told={told} />;
  if (tab === 'inputs') {
    return (
      <>
        <Importance told={told} />
        <Coefficients told={told} />
      </>
    );
  }
  return (
    <>
      <EvaluationView told={told} classes={[]} />
      <Lineage model={model} version={version} />
    </>
  );
}

function Back() {
  return (
    <a class={css.back} href="/models">
      <Icon name="back" size={16} />
      {t('nav.models')}
    </a>
  );
}

function Detail({ model, etag, reload }: { model: ModelDetail; etag: string; reload: () => void }) {
  const query = place.value.query;
  const [editing, setEditing] = useState(false);
  const asked = Number(query.get('version')) || model.serving || model.version;
  const version = model.versions.find((one) => one.version === asked) ?? model.versions[0];
  const mine = model.may_manage;
  const shown = tabs.filter((tab) => tab !== 'access' || mine);
  const tab = shown.find((name) => name === query.get('tab')) ?? 'evaluation';
  const action = useAction(true);
  if (!version) return null;
  const promote = (): void =>
    void action.run(async () => {
      await models.promote(model.name, version.version);
      modelsChanged.value += 1;
      reload();
    });
  return (
    <Page
      title={model.name}
      focusKey={model.name}
      lead={
        <>
          <Badge tone={stageTones[version.stage]} text={stageText(version)} /> {version.spec?.target && t('job.predicts', { target: version.spec.target })}{' '}
          {model.description}
        </>
      }
      back={<Back />}
      actions={
        <>
          {model.may_use && (
            <LinkButton variant="primary" icon="play" href={modelAddress(model.name, `/use?version=${version.version}`)}>
              {t('model.use')}
            </LinkButton>
          )}
          {mine && version.version !== model.serving && (
            <Button icon="check" busy={action.busy} onClick={promote}>
              {t('model.promote')}
            </Button>
          )}
          {mine && <Button onClick={() => setEditing(true)}>{t('action.edit')}</Button>}
        </>
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
      <Tabs now={tab} shown={shown} />
      <Part key={version.version} tab={tab} model={model} version={version} reload={reload} />
      {editing && <Describe model={model} etag={etag} onClose={() => setEditing(false)} onDone={reload} />}
    </Page>
  );
}

export default function ModelPage({ id = '' }: { id?: string }) {
  const loaded = useLoad(() => models.getModel(id), [id, modelsChanged.value]);
  const found = loaded.value;
  if (found) return <Detail model={{ ...found.value, versions: found.value.versions.toSorted((a, b) => b.version - a.version) }} etag={found.etag} reload={loaded.reload} />;
  return (
    <Page title={t('model.title')} back={<Back />}>
      {loaded.error && <EmptyState icon="model" title={t('model.unknown')}>{loaded.error}</EmptyState>}
    </Page>
  );
}
