// A box that belongs to nobody yet: a new system, or one more box of an existing one. The wizard has six short steps;
// Back keeps every entry; nothing happens on the box before the last button.
import '../../messages/en-setup';
import { useEffect, useRef, useState } from 'preact/hooks';
import * as api from '../../lib/api';
import * as wizard from '../../lib/api-setup';
import { readPhase } from '../../lib/boot';
import { countdown } from '../../lib/format';
import { t } from '../../lib/messages';
import { navigate, setQuery } from '../../lib/router';
import { place, setup } from '../../lib/stores';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Gate } from '../../ui/Gate';
import { Icon } from '../../ui/Icon';
import { useCountdown } from '../../ui/useCountdown';
import { Begin } from './Begin';
import { check, type Errors, serverErrors, steps } from './checks';
import { expectAdmin, finish, loadDraft, saveDraft, toRequest, type Draft } from './draft';
import { JoinBox } from './JoinBox';
import { AdminStep, BoxStep, CertificateStep, CodeStep, ReviewStep, UnlockStep } from './steps';
import css from './SetupPage.module.css';

const views = { code: CodeStep, admin: AdminStep, box: BoxStep, unlock: UnlockStep, certificate: CertificateStep, review: ReviewStep };

function Progress({ step }: { step: number }) {
  return (
    <ol class={css.progress} aria-label={t('setup.progress', { step: step + 1, count: steps.length })}>
      {steps.map((name, index) => (
        <li key={name} data-state={index < step ? 'done' : index === step ? 'now' : 'later'} aria-current={index === step ? 'step' : undefined}>
          <span class={css.mark}>{index < step ? <Icon name="check" size={14} /> : index + 1}</span>
          <span class={css.name}>{t(`setup.step.${name}`)}</span>
        </li>
      ))}
    </ol>
  );
}

function Wizard({ onBack }: { onBack: () => void }) {
  const start = useRef(loadDraft(setup.value?.node.hostname ?? ''));
  const [draft, setDraft] = useState<Draft>(start.current.draft);
  const [errors, setErrors] = useState<Errors>({});
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const [wait, startWait] = useCountdown();
  const root = useRef<HTMLDivElement>(null);
  const moved = useRef(false);
  const name = steps[draft.step]!;
  const View = views[name];

  useEffect(() => {
    if (!moved.current) return;
    document.querySelector<HTMLElement>('h1')?.focus();
    scrollTo(0, 0);
  }, [draft.step]);

  const change = (part: Partial<Draft>): void => {
    setDraft((old) => {
      const next = { ...old, ...part };
      saveDraft(next);
      return next;
    });
    setErrors({});
    setProblem('');
  };
  const go = (step: number): void => {
    moved.current = true;
    change({ step });
  };
  const fail = (found: Errors): void => {
    setErrors(found);
    // After the paint, so that the marked field exists.
    requestAnimationFrame(() => root.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
  };
  const refused = (error: unknown): void => {
    if (error instanceof api.ApiError) {
      if (error.status === 429) startWait(error.retryAfter || 10);
      const { step, found } = serverErrors(error);
      if (step >= 0) {
        moved.current = true;
        setDraft((old) => ({ ...old, step }));
        setProblem('');
        fail(found);
        return;
      }
    }
    setProblem(api.errorText(error));
  };

  const next = async (): Promise<void> => {
    if (busy || wait > 0) return;
    const found = check(name, draft);
    if (Object.keys(found).length > 0) return fail(found);
    if (name !== 'code' && name !== 'review') return go(draft.step + 1);
    setBusy(true);
    setProblem('');
    try {
      if (name === 'code') {
        await wizard.checkSetupCode(draft.code.trim());
        go(1);
      } else {
        expectAdmin(draft.username.trim());
        await wizard.postSetup(toRequest(draft));
        finish();
        navigate('/', { replace: true });
        await readPhase();
      }
    } catch (error) {
      expectAdmin(null);
      refused(error);
    }
    setBusy(false);
  };

  const label = name === 'review' ? t('setup.finish') : name === 'code' ? t('setup.check') : t('action.next');
  return (
    <Gate title={t(`setup.title.${name}`)} lead={t(`setup.lead.${name}`)} wide above={<Progress step={draft.step} />}>
      <form
        class={css.form}
        novalidate
        onSubmit={(event) => {
          event.preventDefault();
          void next();
        }}
      >
        <div ref={root} class={css.fields}>
          {start.current.resumed && draft.step === 0 && !problem && <Note tone="info">{t('setup.resumed')}</Note>}
          {problem && (
            <Note tone="critical" live>
              {problem}
            </Note>
          )}
          <View draft={draft} change={change} errors={errors} go={go} />
        </div>
        <div class={css.buttons}>
          <Button icon="back" onClick={() => (draft.step > 0 ? go(draft.step - 1) : onBack())}>
            {t('action.back')}
          </Button>
          <Button type="submit" variant="primary" busy={busy} disabled={wait > 0}>
            {wait > 0 ? t('login.wait', { time: countdown(wait) }) : label}
          </Button>
        </div>
      </form>
    </Gate>
  );
}

// What the box shall be is in the address, so that Back and a reload do what one expects.
export default function SetupPage() {
  const start = place.value.query.get('start');
  const choose = (next: string | undefined): void => setQuery({ start: next }, { replace: false });
  if (start === 'new') return <Wizard onBack={() => choose(undefined)} />;
  if (start === 'join') return <JoinBox onBack={() => choose(undefined)} />;
  return <Begin onChoose={choose} />;
}
