// Makes a token. Its secret is shown once, here, and never again.
import { useState } from 'preact/hooks';
import * as access from '../../lib/api-access';
import { t } from '../../lib/messages';
import type { Scope } from '../../lib/types';
import { Button } from '../../ui/Button';
import { Note } from '../../ui/Card';
import { Copy } from '../../ui/Copy';
import { Dialog } from '../../ui/Dialog';
import { Choice, TextField } from '../../ui/Field';
import { fieldError, Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';

const scopes: readonly Scope[] = ['read', 'write', 'predict', 'metrics'];

function Shown({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog
      title={t('tokens.made')}
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('tokens.kept')}
        </Button>
      }
    >
      <Note tone="warning">{t('tokens.once')}</Note>
      <Copy value={secret} label={t('tokens.token')} />
    </Dialog>
  );
}

export function NewToken({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly Scope[]>(['read']);
  const [days, setDays] = useState('90');
  const [cidr, setCidr] = useState('');
  const [secret, setSecret] = useState('');
  const [wrong, setWrong] = useState<{ name?: string; days?: string; scopes?: string }>({});
  const action = useAction();
  const save = (): void => {
    const count = Number(days);
    const found = {
      name: name.trim() ? undefined : t('tokens.error.name'),
      days: Number.isInteger(count) && count >= 1 && count <= 365 ? undefined : t('tokens.error.days'),
      scopes: chosen.length ? undefined : t('tokens.error.scopes'),
    };
    setWrong(found);
    if (found.name || found.days || found.scopes) return;
    void action.run(async () => {
      const made = await access.createToken({ name: name.trim(), scopes: [...chosen], expires_days: count, ...(cidr.trim() ? { cidr: cidr.trim() } : {}) });
      setSecret(made.token);
      onMade();
    });
  };
  if (secret) return <Shown key="shown" secret={secret} onClose={onClose} />;
  return (
    <Dialog
      key="form"
      title={t('tokens.add')}
      onClose={onClose}
      onSubmit={save}
      footer={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button type="submit" variant="primary" busy={action.busy}>
            {t('tokens.create')}
          </Button>
        </>
      }
    >
      <Problem error={action.error} />
      <TextField label={t('tokens.name')} value={name} onInput={setName} hint={t('tokens.name_hint')} error={wrong.name ?? fieldError(action.error, '/name')} autoFocus maxLength={64} />
      <fieldset>
        <legend>{t('tokens.scopes')}</legend>
        {scopes.map((scope) => (
          <Choice
            key={scope}
            kind="checkbox"
            label={t(`scope.${scope}`)}
            detail={t(`scope.${scope}.text`)}
            checked={chosen.includes(scope)}
            onChange={(on) => setChosen(on ? [...chosen, scope] : chosen.filter((one) => one !== scope))}
          />
        ))}
      </fieldset>
      {wrong.scopes && (
        <Note tone="critical" live>
          {wrong.scopes}
        </Note>
      )}
      <TextField type="number" min={1} max={365} label={t('tokens.days')} value={days} onInput={setDays} error={wrong.days ?? fieldError(action.error, '/expires_days')} />
      <TextField label={t('tokens.cidr')} value={cidr} onInput={setCidr} mono hint={t('tokens.cidr_hint')} error={fieldError(action.error, '/cidr')} />
    </Dialog>
  );
}
