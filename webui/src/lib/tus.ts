// The sending half of tus 1.0.0: asks how far the box is and sends the rest in pieces. Loaded when the first bytes are
// sent. Retrying, asking for the password and remembering are the business of uploads.ts, which knows the person.
//
// XMLHttpRequest, because fetch cannot tell how much of a body has left.
import type { Problem } from './api';

export const pieceBytes = 64 * 1024 * 1024;

interface Handlers {
  csrf: () => string;
  onProgress: (sent: number) => void;
  onDone: (sha256: string) => void;
  onError: (problem: Problem) => void;
}

// Exported for the tests: what a failed request was about.
export function problemOf(status: number, body: string): Problem {
  const problem: Problem = { status, code: status === 0 ? 'unreachable' : `http_${status}` };
  try {
    return { ...problem, ...(JSON.parse(body) as Partial<Problem>), status };
  } catch {
    // A HEAD request has no body.
    if (status === 401) problem.code = 'not_logged_in';
    return problem;
  }
}

export function send(address: string, file: File, handlers: Handlers): () => void {
  let now: XMLHttpRequest | null = null;
  let stopped = false;

  const ask = (offset: number | null): void => {
    const request = new XMLHttpRequest();
    now = request;
    request.open(offset === null ? 'HEAD' : 'PATCH', address);
    request.setRequestHeader('Tus-Resumable', '1.0.0');
    request.addEventListener('error', () => fail(request));
    request.addEventListener('load', () => answered(request, offset));
    if (offset === null) {
      request.send();
      return;
    }
    request.setRequestHeader('X-CSRF', handlers.csrf());
    request.setRequestHeader('Upload-Offset', String(offset));
    request.setRequestHeader('Content-Type', 'application/offset+octet-stream');
    request.upload.addEventListener('progress', (event) => !stopped && handlers.onProgress(offset + event.loaded));
    request.send(file.slice(offset, offset + pieceBytes));
  };

  const fail = (request: XMLHttpRequest): void => {
    if (!stopped) handlers.onError(problemOf(request.status, request.responseText));
  };

  const answered = (request: XMLHttpRequest, before: number | null): void => {
    if (stopped) return;
    const told = request.getResponseHeader('Upload-Offset');
    const offset = told === null ? Number.NaN : Number(told);
    // A box that took nothing of a piece would be asked for ever.
    const sensible = Number.isInteger(offset) && offset >= 0 && offset <= file.size && (before === null || offset > before);
    if (request.status < 200 || request.status > 299 || !sensible) return fail(request);
    if (before !== null) handlers.onProgress(offset);
    if (offset < file.size) ask(offset);
    else handlers.onDone(request.getResponseHeader('Samovar-SHA256') ?? '');
  };

  ask(null);
  return () => {
    stopped = true;
    now?.abort();
  };
}
