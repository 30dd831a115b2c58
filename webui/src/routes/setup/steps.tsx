// The six faces of the wizard.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { fingerprint } from '../../lib/format';
import { t } from '../../lib/messages';
import { setup } from '../../lib/stores';
import { Button, LinkButton } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Choice, Select, TextField } from '../../ui/Field';
import { PasswordField } from '../../ui/PasswordField';
import { timeZones } from '../../lib/zones';
import type { Errors } from './checks';
import type { Draft } from './draft';
import css from './SetupPage.module.css';

interface StepProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  errors: Errors;
  go: (step: number) => void;
}

export function CodeStep({ draft, change, errors }: StepProps) {
  return (
    <>
      <TextField label={t('setup.code')} value={draft.code} onInput={(code) => change({ code })} error={errors.code} mono autocomplete="one-time-code" hint={t('setup.code_hint')} />
      <details class={css.more}>
        <summary>{t('setup.code_where')}</summary>
        <p>{t('setup.code_where_text')}</p>
        <p>
          <code>journalctl -u samovard | grep -i setup</code>
        </p>
      </details>
    </>
  );
}

export function AdminStep({ draft, change, errors }: StepProps) {
  return (
    <>
      <div class={css.pair}>
        <TextField label={t('user.username')} value={draft.username} onInput={(username) => change({ username })} error={errors.username} autocomplete="username" hint={t('user.username_hint')} />
        <TextField label={t('user.display_name')} value={draft.displayName} onInput={(displayName) => change({ displayName })} error={errors.displayName} autocomplete="name" hint={t('user.display_name_hint')} />
      </div>
      <PasswordField label={t('login.password')} value={draft.password} onInput={(password) => change({ password })} error={errors.password} username={draft.username} fresh hint={t('password.advice')} />
    </>
  );
}

export function BoxStep({ draft, change, errors }: StepProps) {
  return (
    <>
      <TextField label={t('settings.box_name')} value={draft.boxName} onInput={(boxName) => change({ boxName })} error={errors.boxName} hint={t('setup.box_hint')} maxLength={64} />
      <Select label={t('settings.time_zone')} value={draft.timeZone} onChange={(timeZone) => change({ timeZone })} error={errors.timeZone} options={timeZones(draft.timeZone)} hint={t('settings.time_zone_hint')} />
    </>
  );
}

export function UnlockStep({ draft, change, errors }: StepProps) {
  return (
    <>
      <fieldset class={css.choices} aria-invalid={errors.mode ? true : undefined}>
        <legend class="visually-hidden">{t('setup.title.unlock')}</legend>
        <Choice kind="radio" name="unlock" card label={t('setup.passphrase')} detail={t('setup.passphrase_text')} checked={draft.mode === 'passphrase'} onChange={() => change({ mode: 'passphrase' })} />
        <Choice kind="radio" name="unlock" card label={t('setup.key_file')} detail={t('setup.key_file_text')} checked={draft.mode === 'key_file'} onChange={() => change({ mode: 'key_file' })} />
      </fieldset>
      {errors.mode && (
        <Note tone="critical" live>
          {errors.mode}
        </Note>
      )}
      {draft.mode === 'passphrase' && (
        <>
          <PasswordField label={t('setup.passphrase_field')} value={draft.passphrase} onInput={(passphrase) => change({ passphrase })} error={errors.passphrase} fresh />
          <PasswordField label={t('setup.passphrase_again')} value={draft.passphraseAgain} onInput={(passphraseAgain) => change({ passphraseAgain })} error={errors.passphraseAgain} />
          <Note tone="warning">{t('setup.passphrase_warning')}</Note>
        </>
      )}
      {draft.mode === 'key_file' && (
        <>
          <Note tone="warning">{t('setup.key_file_warning')}</Note>
          <Choice kind="checkbox" label={t('setup.key_file_accept')} checked={draft.riskSeen} onChange={(riskSeen) => change({ riskSeen })} />
          {errors.riskSeen && (
            <Note tone="critical" live>
              {errors.riskSeen}
            </Note>
          )}
        </>
      )}
    </>
  );
}

export function Fingerprint({ value }: { value: string }) {
  return <code class={css.fingerprint}>{fingerprint(value)}</code>;
}

export function CertificateStep() {
  const [open, setOpen] = useState(false);
  return (
    <>
      <div class={css.panel}>
        <h2>{t('setup.fingerprint')}</h2>
        <Fingerprint value={setup.value?.fingerprint ?? ''} />
        <p class={css.hint}>{t('setup.fingerprint_hint')}</p>
      </div>
      <div class={css.row}>
        <LinkButton icon="download" href="/ca.crt" download="samovar-ca.crt">
          {t('settings.download_ca')}
        </LinkButton>
        <Button variant="quiet" icon="help" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t('setup.ca_how')}
        </Button>
      </div>
      {open && (
        <ul class={css.list}>
          <li>{t('setup.ca_windows')}</li>
          <li>{t('setup.ca_mac')}</li>
          <li>{t('setup.ca_linux')}</li>
          <li>{t('setup.ca_firefox')}</li>
        </ul>
      )}
      <p class={css.hint}>{t('setup.ca_later')}</p>
    </>
  );
}

function Row({ title, children, onEdit }: { title: string; children: ComponentChildren; onEdit: () => void }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
      <dd>
        <Button small variant="quiet" aria-label={t('setup.edit_what', { what: title })} onClick={onEdit}>
          {t('action.edit')}
        </Button>
      </dd>
    </div>
  );
}

export function ReviewStep({ draft, go }: StepProps) {
  return (
    <dl class={css.review}>
      <Row title={t('settings.box_name')} onEdit={() => go(2)}>
        {draft.boxName}
      </Row>
      <Row title={t('settings.time_zone')} onEdit={() => go(2)}>
        {draft.timeZone}
      </Row>
      <Row title={t('role.admin')} onEdit={() => go(1)}>
        {draft.username}
        {draft.displayName && ` · ${draft.displayName}`}
      </Row>
      <Row title={t('setup.step.unlock')} onEdit={() => go(3)}>
        {t(draft.mode === 'key_file' ? 'setup.key_file' : 'setup.passphrase')}
      </Row>
    </dl>
  );
}
