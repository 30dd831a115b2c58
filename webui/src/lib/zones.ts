// The time zones a person can choose, with the one in use always among them.
export function timeZones(current: string): { value: string; label: string }[] {
  const known = typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('timeZone') : [];
  const all = new Set(['UTC', ...known, current].filter(Boolean));
  return [...all].sort().map((value) => ({ value, label: value.replaceAll('_', ' ') }));
}
