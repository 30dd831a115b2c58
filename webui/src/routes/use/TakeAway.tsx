// The model as a file, for other machines. Says why it leaves; the box writes that down.
import { useState } from 'preact/hooks';
import * as models from '../../lib/api-models';
import { download } from '../../lib/download';
import { t } from '../../lib/messages';
import { Button } from '../../ui/Button';
import { Card } from '../../ui/Card';
import { Copy } from '../../ui/Copy';
import { Choice, TextField } from '../../ui/Field';
import { Problem, fieldError } from '../../ui/Problem';
import { useAction } from '../../ui/useAction';
import css from '../models/models.module.css';

const formats = ['onnx', 'c', 'json'] as const;

export function TakeAway({ model, version }: { model: string; version: number }) {
  const [format, setFormat] = useState<(typeof formats)[number]>('onnx');
  const [reason, setReason] = useState('');
  const [done, setDone] = useState<models.Exported | null>(null);
  const action = useAction();
  const take = (event: Event): void => {
    event.preventDefault();
    if (!reason.trim()) return;
    void action.run(async () => {
      const made = await models.exportModel(model, version, format, reason.trim());
      download(made.fileName, made.content);
      setDone(made);
    });
  };
  return (
    <Card title={t('export.title')}>
      <form class={css.form} novalidate onSubmit={take}>
        <p class={css.sub}>{t('export.text')}</p>
        <fieldset class={css.cards}>
          <legend class="visually-hidden">{t('export.format')}</legend>
          {formats.map((one) => (
            <Choice key={one} card kind="radio" name="format" label={t(`export.${one}`)} detail={t(`export.${one}_text`)} checked={one === format} onChange={() => setFormat(one)} />
          ))}
        </fieldset>
        <TextField label={t('export.reason')} hint={t('export.reason_hint')} value={reason} maxLength={500} error={fieldError(action.error, '/reason')} onInput={setReason} />
        <Problem error={action.error} />
        <div class={css.row}>
          <Button type="submit" icon="download" busy={action.busy} disabled={!reason.trim()}>
            {t('export.submit')}
          </Button>
        </div>
        {done && (
          <div role="status" class={css.form}>
            <p>
              {t('export.done')} <span translate={false}>{done.fileName}</span>
            </p>
            {done.sha256 && <Copy value={done.sha256} label={t('export.sha256')} />}
          </div>
        )}
      </form>
    </Card>
  );
}
