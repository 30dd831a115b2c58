// The six digits: what somebody types or pastes, with or without spaces, and how it is shown.
export const codeLength = 6;

export const digitsOf = (text: string): string => text.replace(/\D/g, '').slice(0, codeLength);
export const grouped = (digits: string): string => (digits.length > 3 ? `${digits.slice(0, 3)} ${digits.slice(3)}` : digits);

// Where the caret belongs after the text was grouped anew: behind as many digits as before.
export function caretAfter(text: string, caret: number): number {
  const digits = digitsOf(text.slice(0, caret)).length;
  return digits > 3 ? digits + 1 : digits;
}
