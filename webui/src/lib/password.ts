// Guidance while somebody chooses a password. The box decides; this only says early what it will say.
import '../messages/en-gate';
import { t } from './messages';

export const passwordMin = 12;
export interface Guidance {
  level: 0 | 1 | 2 | 3; // 0 = will be refused
  text: string;
}

const obvious = ['password', 'passwort', 'samovar', 'qwerty', 'letmein', 'administrator', '123456', 'welcome'];

export function guidance(password: string, username = ''): Guidance {
  if (password.length === 0) return { level: 0, text: t('password.hint', { count: passwordMin }) };
  const missing = passwordMin - [...password].length;
  if (missing > 0) return { level: 0, text: t('password.short', { count: missing }) };
  const lower = password.toLowerCase();
  const distinct = new Set(lower).size;
  const guessable = obvious.some((word) => lower.includes(word)) || (username.length > 2 && lower.includes(username.toLowerCase()));
  if (distinct < 5) return { level: 0, text: t('password.repeats') };
  if (guessable) return { level: 1, text: t('password.guessable') };
  if (password.length >= 20 || (password.length >= 16 && distinct >= 10)) return { level: 3, text: t('password.strong') };
  return { level: 2, text: t('password.good') };
}
