// For forms whose fields begin with what the box has: fills them when it arrives, and tells when they are filled.
// Until then the fields stay closed. What was typed earlier would be overwritten by the answer without a word.
import { useEffect, useState } from 'preact/hooks';

export function useFilled<T>(value: T | null | undefined, fill: (value: T) => void): boolean {
  const [filled, setFilled] = useState(false);
  useEffect(() => {
    if (!value) return;
    fill(value);
    setFilled(true);
  }, [value]);
  return filled;
}
