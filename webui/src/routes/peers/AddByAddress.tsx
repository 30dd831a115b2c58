// For boxes that are not heard: somebody knows the address.
import { useState } from 'preact/hooks';
import { ApiError } from '../../lib/api';
import { addPeer } from '../../lib/api-cluster';
import { t } from '../../lib/messages';
import { peersChanged } from '../../lib/stores';
import type { Peer } from '../../lib/types-cluster';
import { Button, LinkButton } from '../../ui/Button';
import { Card, Note } from '../../ui/Card';
import { TextField } from '../../ui/Field';
import { Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import css from './peers.module.css';

export function AddByAddress() {
  const [address, setAddress] = useState('');
  const [error, setError] = useState('');
  const [found, setFound] = useState<Peer | null>(null);
  const action = useAction();
  const wanted = address.trim();
  const change = (value: string): void => {
    setAddress(value);
    setError('');
    setFound(null);
    action.clear();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!wanted) return setError(t('add.error'));
    setFound(null);
    void action.run(async () => {
      setFound(await addPeer(wanted));
      peersChanged.value += 1;
    });
  };
  const unreachable = action.error instanceof ApiError && action.error.code === 'peer_unreachable';
  return (
    <Card title={t('add.title')}>
      <form class={css.form} novalidate onSubmit={submit}>
        <p class={css.hint}>{t('add.text')}</p>
        <Problem error={action.error} />
        {unreachable && (
          <div>
            <LinkButton small icon="shield" href={`/doctor?address=${encodeURIComponent(wanted)}`}>
              {t('add.doctor')}
            </LinkButton>
          </div>
        )}
        {found && (
          <Note tone="ok" live>
            {t('add.done', { id: found.short_id, name: found.hostname || found.model })}
          </Note>
        )}
        <div class={css.line}>
          <TextField label={t('add.field')} hint={t('add.hint')} value={address} onInput={change} error={error} autocomplete="off" mono />
          <Button type="submit" busy={action.busy}>
            {t('add.submit')}
          </Button>
        </div>
      </form>
    </Card>
  );
}
