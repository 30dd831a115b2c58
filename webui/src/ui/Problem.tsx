// An error of the box inside a form or a page.
import { ApiError, errorText } from '../lib/api';
import { t } from '../lib/messages';
import { Note } from './Card';

export function Problem({ error }: { error: unknown }) {
  if (!error) return null;
  const trace = error instanceof ApiError && error.status >= 500 ? error.problem.trace_id : undefined;
  return (
    <Note tone="critical" live>
      {errorText(error)}
      {trace && ` ${t('problem.trace', { trace })}`}
    </Note>
  );
}

export function fieldError(error: unknown, pointer: string): string | undefined {
  return error instanceof ApiError ? error.field(pointer) : undefined;
}
