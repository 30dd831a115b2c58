// What each step of the wizard asks for, checked here first so that mistakes show beside their field.
import type { ApiError } from '../../lib/api';
import { t } from '../../lib/messages';
import { guidance, passwordMin } from '../../lib/password';
import type { Draft } from './draft';

export const steps = ['code', 'admin', 'box', 'unlock', 'certificate', 'review'] as const;
export type Step = (typeof steps)[number];
export type Errors = Partial<Record<keyof Draft, string>>;

export const usernamePattern = /^[a-z0-9][a-z0-9._-]{0,31}$/;

export function check(step: Step, draft: Draft): Errors {
  const errors: Errors = {};
  if (step === 'code' && !draft.code.trim()) errors.code = t('setup.error.code');
  if (step === 'admin') {
    if (!usernamePattern.test(draft.username.trim())) errors.username = t('user.error.username');
    const advice = guidance(draft.password, draft.username);
    if (advice.level === 0) errors.password = draft.password ? advice.text : t('password.hint', { count: passwordMin });
  }
  if (step === 'box' && !draft.boxName.trim()) errors.boxName = t('setup.error.box');
  if (step === 'unlock') {
    if (!draft.mode) errors.mode = t('setup.error.mode');
    if (draft.mode === 'passphrase') {
      const advice = guidance(draft.passphrase);
      if (advice.level === 0) errors.passphrase = draft.passphrase ? advice.text : t('password.hint', { count: passwordMin });
      else if (draft.passphrase === draft.password) errors.passphrase = t('setup.error.same');
      else if (draft.passphrase !== draft.passphraseAgain) errors.passphraseAgain = t('setup.error.again');
    }
    if (draft.mode === 'key_file' && !draft.riskSeen) errors.riskSeen = t('setup.error.risk');
  }
  return errors;
}

const pointers: [string, keyof Draft, Step][] = [
  ['/code', 'code', 'code'],
  ['/admin/username', 'username', 'admin'],
  ['/admin/display_name', 'displayName', 'admin'],
  ['/admin/password', 'password', 'admin'],
  ['/box_name', 'boxName', 'box'],
  ['/time_zone', 'timeZone', 'box'],
  ['/unlock/passphrase', 'passphrase', 'unlock'],
  ['/unlock/mode', 'mode', 'unlock'],
];

// The box's own complaints, placed at their fields; the step of the first one is shown.
export function serverErrors(error: ApiError): { step: number; found: Errors } {
  const found: Errors = {};
  let step = -1;
  if (error.code === 'wrong_setup_code') return { step: 0, found: { code: error.message } };
  for (const [pointer, field, where] of pointers) {
    const text = error.field(pointer);
    if (!text) continue;
    found[field] = text;
    if (step < 0) step = steps.indexOf(where);
  }
  return { step, found };
}
