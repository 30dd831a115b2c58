// A button's work: busy while it runs, its error where the person looks, silence when they declined a dialog.
import { useState } from 'preact/hooks';
import { cancelled, errorText } from '../lib/api';
import { toast } from '../lib/stores';

interface Action {
  busy: boolean;
  error: unknown;
  run: (work: () => Promise<void>) => Promise<void>;
  clear: () => void;
}

// With `loud` the error becomes a toast: for buttons that have no form around them.
export function useAction(loud = false): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async (work: () => Promise<void>): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (problem) {
      if (!cancelled(problem)) {
        setError(problem);
        if (loud) toast(errorText(problem), { tone: 'error' });
      }
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run, clear: () => setError(null) };
}
