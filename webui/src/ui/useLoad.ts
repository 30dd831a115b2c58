// Loads something for a page: value, error, and a way to ask again without losing what is shown.
import { useEffect, useRef, useState } from 'preact/hooks';
import { errorText } from '../lib/api';

export interface Loaded<T> {
  value: T | null;
  error: string;
  loading: boolean;
  reload: () => void;
  set: (value: T) => void;
}

export function useLoad<T>(load: () => Promise<T>, deps: readonly unknown[] = []): Loaded<T> {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState('');
  const [loading, setLoading] = useState(true);
  const [round, setRound] = useState(0);
  const latest = useRef(0);
  useEffect(() => {
    latest.current += 1;
    const mine = latest.current;
    setLoading(true);
    load().then(
      (next) => {
        if (mine !== latest.current) return;
        setValue(next);
        setError('');
        setLoading(false);
      },
      (problem: unknown) => {
        if (mine !== latest.current) return;
        setError(errorText(problem));
        setLoading(false);
      },
    );
    return () => {
      latest.current += 1;
    };
  }, [...deps, round]);
  return { value, error, loading, reload: () => setRound((n) => n + 1), set: setValue };
}
