// One address, step by step: why a box there is not found or cannot join.
import { useEffect, useState } from 'preact/hooks';
import { probe } from '../../lib/api-cluster';
import { t } from '../../lib/messages';
import { setQuery } from '../../lib/router';
import { place } from '../../lib/stores';
import type { Check } from '../../lib/types-cluster';
import { Button } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { TextField } from '../../ui/Field';
import { Problem } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import { Checks } from './Checks';
import css from './doctor.module.css';

export function Probe() {
  const asked = place.value.query.get('address') ?? '';
  const [address, setAddress] = useState(asked);
  const [checks, setChecks] = useState<readonly Check[] | null>(null);
  const action = useAction();
  const look = (where: string): void =>
    void action.run(async () => {
      setChecks(null);
      setChecks((await probe(where)).checks);
    });
  // A link from elsewhere brings the address along.
  useEffect(() => {
    if (asked) look(asked);
  }, []);
  const submit = (event: Event): void => {
    event.preventDefault();
    const where = address.trim();
    if (!where) return;
    setQuery({ address: where });
    look(where);
  };
  return (
    <Card title={t('doctor.probe')}>
      <form class={css.form} novalidate onSubmit={submit}>
        <p class={css.sub}>{t('doctor.probe_text')}</p>
        <div class={css.line}>
          <TextField label={t('doctor.address')} value={address} onInput={setAddress} autocomplete="off" mono />
          <Button type="submit" busy={action.busy} disabled={!address.trim()}>
            {t('doctor.probe_submit')}
          </Button>
        </div>
        <Problem error={action.error} />
        {action.busy && <p role="status">{t('doctor.looking')}</p>}
        {checks && <Checks checks={checks} />}
      </form>
    </Card>
  );
}
