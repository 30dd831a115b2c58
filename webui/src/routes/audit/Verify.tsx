// Checks the hash chain on the box and says what it found. Nothing is claimed before it was checked.
import { useState } from 'preact/hooks';
import * as access from '../../lib/api-access';
import * as f from '../../lib/format';
import { t } from '../../lib/messages';
import { tracked } from '../../lib/stores';
import type { AuditVerdict } from '../../lib/types';
import { Badge } from '../../ui/Badge';
import { Button } from '../../ui/Button';
import { useAction } from '../../ui/useAction';
import css from './audit.module.css';

export function Verify() {
  const [verdict, setVerdict] = useState<AuditVerdict | null>(null);
  const action = useAction(true);
  const check = (): void => void action.run(async () => setVerdict(await tracked(t('audit.verifying'), access.verifyAudit)));
  return (
    <>
      <span class={css.verdict} role="status">
        {verdict && (
          <span title={verdict.message}>
            <Badge
              tone={verdict.ok ? 'ok' : 'critical'}
              text={verdict.ok ? t('audit.intact', { count: verdict.entries, number: f.number(verdict.entries) }) : t('audit.broken', { seq: verdict.first_bad_seq ?? 0 })}
            />
          </span>
        )}
      </span>
      <Button icon="shield" busy={action.busy} onClick={check}>
        {t('audit.verify')}
      </Button>
    </>
  );
}
