// The only place that knows tus-js-client; loaded when the first bytes are sent. It finds out how far the box is and
// sends the rest in pieces. Retrying, asking for the password and remembering are the business of uploads.ts: the
// client's own retry gives up, and on a refused resumption it would begin a second upload.
import { DetailedError, Upload } from 'tus-js-client';
import type { Problem } from './api';

const pieceBytes = 64 * 1024 * 1024;

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
  const upload = new Upload(file, {
    uploadUrl: address,
    chunkSize: pieceBytes,
    retryDelays: null,
    storeFingerprintForResuming: false,
    onBeforeRequest: (request) => {
      if (request.getMethod() !== 'HEAD') request.setHeader('X-CSRF', handlers.csrf());
    },
    onProgress: (sent) => handlers.onProgress(sent),
    onSuccess: ({ lastResponse }) => handlers.onDone(lastResponse.getHeader('Samovar-SHA256') ?? ''),
    onError: (error) => {
      const answer = error instanceof DetailedError ? error.originalResponse : null;
      handlers.onError(problemOf(answer?.getStatus() ?? 0, answer?.getBody() ?? ''));
    },
  });
  upload.start();
  return () => void upload.abort();
}
