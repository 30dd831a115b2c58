// The way into an existing cluster, seen from the new box. The digits belong on its own screen: whoever opens this page
// over the network has not proven to stand before it, so the box tells them only to itself.
import { useState } from 'preact/hooks';
import { ApiError } from '../../lib/api';
import { getOwnDoctor, joinByWords } from '../../lib/api-setup';
import { readPhase } from '../../lib/boot';
import { countdown } from '../../lib/format';
import { t } from '../../lib/messages';
import { setup } from '../../lib/stores';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { TextField } from '../../ui/Field';
import { Gate } from '../../ui/Gate';
import { fieldError, Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { useCountdown } from '../../ui/useCountdown';
import { useLoad } from '../../ui/useLoad';
import { Checks } from '../doctor/Checks';
import css from './SetupPage.module.css';

function Asked() {
  const join = setup.value?.join;
  if (join?.state === 'done') {
    return (
      <Note tone="ok" live>
        {t('join.done')}
      </Note>
    );
  }
  if (join?.state !== 'code') {
    return (
      <>
        <Note tone="info" live>
          {t('join.waiting')}
        </Note>
        <ol class={css.numbers}>
          <li>{t('join.step_open')}</li>
          <li>{t('join.step_pick')}</li>
          <li>{t('join.step_code')}</li>
        </ol>
      </>
    );
  }
  return (
    <>
      <Note tone="warning" live>
        <strong>{join.cluster_name ? t('join.asked', { cluster: join.cluster_name }) : t('join.asked_nobody')}</strong>
        {!join.code && <p>{t('join.look')}</p>}
      </Note>
      {join.code && (
        <div class={css.panel}>
          <h2>{t('join.code')}</h2>
          <p class={css.code}>{join.code}</p>
        </div>
      )}
    </>
  );
}

function ByWords() {
  const [code, setCode] = useState('');
  const [words, setWords] = useState('');
  const [digest, setDigest] = useState('');
  const [missing, setMissing] = useState({ code: '', words: '' });
  const [sent, setSent] = useState(false);
  const [wait, startWait] = useCountdown();
  const action = useAction();
  const submit = (event: Event): void => {
    event.preventDefault();
    const lacks = { code: code.trim() ? '' : t('setup.error.code'), words: words.trim() ? '' : t('join.words_error') };
    setMissing(lacks);
    setSent(false);
    if (lacks.code || lacks.words || wait > 0) return;
    void action.run(async () => {
      try {
        await joinByWords(code.trim(), words.trim().toLowerCase().replace(/\s+/g, ' '), digest.trim());
        setSent(true);
        await readPhase();
      } catch (error) {
        if (error instanceof ApiError && error.status === 429) startWait(error.retryAfter || 10);
        throw error;
      }
    });
  };
  return (
    <details class={css.more}>
      <summary>{t('join.words')}</summary>
      <p>{t('join.words_text')}</p>
      <form class={css.form} novalidate onSubmit={submit}>
        <Problem error={action.error} />
        {sent && (
          <Note tone="ok" live>
            {t('join.words_sent')}
          </Note>
        )}
        <TextField label={t('setup.code')} value={code} onInput={setCode} error={missing.code} mono autocomplete="off" hint={t('setup.code_hint')} />
        <TextField label={t('join.words_field')} value={words} onInput={setWords} error={missing.words || fieldError(action.error, '/words')} autocomplete="off" hint={t('join.words_hint')} />
        <TextField label={t('join.digest')} value={digest} onInput={setDigest} mono autocomplete="off" hint={t('join.digest_hint')} />
        <div class={css.buttons}>
          <Button type="submit" variant="primary" busy={action.busy} disabled={wait > 0}>
            {wait > 0 ? t('login.wait', { time: countdown(wait) }) : t('join.words_submit')}
          </Button>
        </div>
      </form>
    </details>
  );
}

function OwnChecks() {
  const told = useLoad(getOwnDoctor);
  return (
    <div>
      {told.error && <Note tone="critical">{told.error}</Note>}
      {told.value && <Checks checks={told.value.checks} />}
    </div>
  );
}

export function JoinBox({ onBack }: { onBack: () => void }) {
  const [looking, setLooking] = useState(false);
  const info = setup.value;
  return (
    <Gate title={t('join.title')} lead={t('join.lead')} wide>
      <div class={css.fields}>
        <div class={css.panel}>
          <h2>{t('join.id')}</h2>
          <p class={css.identity} translate={false}>
            {info?.join?.short_id ?? info?.node.id}
          </p>
        </div>
        <Asked />
        <ByWords />
        <details class={css.more} onToggle={(event) => setLooking(event.currentTarget.open)}>
          <summary>{t('join.doctor')}</summary>
          {looking && <OwnChecks />}
        </details>
        <div class={css.row}>
          <Button icon="back" onClick={onBack}>
            {t('action.back')}
          </Button>
        </div>
      </div>
    </Gate>
  );
}
