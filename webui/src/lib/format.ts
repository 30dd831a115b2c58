// Numbers, units and times for people, by Intl in the browser's own language.
import { t } from './messages';

const dash = '–';
let numbersIn: string | undefined;

// Tests fix the language; a browser leaves it to the person's settings.
export function setFormatLocale(name: string | undefined): void {
  numbersIn = name;
  cache.clear();
}

const cache = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.RelativeTimeFormat>();
function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `n${JSON.stringify(options)}`;
  let found = cache.get(key) as Intl.NumberFormat | undefined;
  if (!found) cache.set(key, (found = new Intl.NumberFormat(numbersIn, options)));
  return found;
}
function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `d${JSON.stringify(options)}`;
  let found = cache.get(key) as Intl.DateTimeFormat | undefined;
  if (!found) cache.set(key, (found = new Intl.DateTimeFormat(numbersIn, options)));
  return found;
}

type Maybe = number | null | undefined;
const missing = (v: Maybe): v is null | undefined => v === null || v === undefined || !Number.isFinite(v);

export function number(value: Maybe, digits = 0): string {
  return missing(value) ? dash : numberFormat({ maximumFractionDigits: digits, minimumFractionDigits: digits }).format(value);
}

export function percent(fraction: Maybe, digits = 0): string {
  if (missing(fraction)) return dash;
  return numberFormat({ style: 'percent', maximumFractionDigits: digits }).format(fraction);
}

// Three figures are enough to read and stay the same width while they tick.
function figures(value: number): string {
  const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
  return number(value, digits);
}

function scaled(value: Maybe, base: number, units: readonly string[]): string {
  if (missing(value)) return dash;
  let step = 0;
  let rest = value;
  while (Math.abs(rest) >= base && step < units.length - 1) {
    rest /= base;
    step += 1;
  }
  return `${figures(rest)}\u00a0${units[step]}`;
}

export const bytes = (value: Maybe): string => scaled(value, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
export const bitsPerSecond = (value: Maybe): string => scaled(value, 1000, ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s']);
export const hertz = (value: Maybe): string => scaled(value, 1000, ['Hz', 'kHz', 'MHz', 'GHz']);
export const energy = (wattHours: Maybe): string => scaled(wattHours, 1000, ['Wh', 'kWh', 'MWh']);
export const watts = (value: Maybe): string => (missing(value) ? dash : `${number(value, value < 100 ? 1 : 0)}\u00a0W`);
export const celsius = (value: Maybe): string => (missing(value) ? dash : `${number(value, 0)}\u00a0°C`);

type When = string | number | Date | null | undefined;
export function toDate(when: When): Date | null {
  if (when === null || when === undefined || when === '') return null;
  const date = when instanceof Date ? when : new Date(typeof when === 'number' ? when * 1000 : when);
  return Number.isNaN(date.getTime()) ? null : date;
}
export function unixSeconds(when: When): number {
  const date = toDate(when);
  return date ? date.getTime() / 1000 : 0;
}

export function dateTime(when: When): string {
  const date = toDate(when);
  return date ? dateFormat({ dateStyle: 'medium', timeStyle: 'short' }).format(date) : dash;
}
export function dateTimeExact(when: When): string {
  const date = toDate(when);
  return date ? dateFormat({ dateStyle: 'medium', timeStyle: 'medium' }).format(date) : dash;
}
export function day(when: When): string {
  const date = toDate(when);
  return date ? dateFormat({ dateStyle: 'medium' }).format(date) : dash;
}
export function time(when: When, seconds = false): string {
  const date = toDate(when);
  return date ? dateFormat({ timeStyle: seconds ? 'medium' : 'short' }).format(date) : dash;
}
export function dayMonth(when: When): string {
  const date = toDate(when);
  return date ? dateFormat({ day: 'numeric', month: 'short' }).format(date) : dash;
}

const spans: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
export function ago(when: When, nowMs: number): string {
  const date = toDate(when);
  if (!date) return dash;
  const seconds = (date.getTime() - nowMs) / 1000;
  let format = cache.get('r') as Intl.RelativeTimeFormat | undefined;
  if (!format) cache.set('r', (format = new Intl.RelativeTimeFormat(numbersIn, { numeric: 'auto' })));
  for (const [unit, size] of spans) {
    if (Math.abs(seconds) >= size) return format.format(Math.round(seconds / size), unit);
  }
  return t('time.now');
}

export function duration(seconds: Maybe): string {
  if (missing(seconds)) return dash;
  const whole = Math.max(0, Math.floor(seconds));
  const days = Math.floor(whole / 86_400);
  const hours = Math.floor((whole % 86_400) / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  if (days > 0) return t('time.days_hours', { days: number(days), hours: number(hours) });
  if (hours > 0) return t('time.hours_minutes', { hours: number(hours), minutes: number(minutes) });
  if (minutes > 0) return t('time.minutes', { minutes: number(minutes) });
  return t('time.seconds', { seconds: number(whole) });
}

// Counts down like a clock: 1:05.
export function countdown(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

// A fingerprint in groups that a person can compare with a console.
export function fingerprint(text: string): string {
  if (text.includes(':')) return text.toUpperCase();
  return (text.match(/.{1,2}/g) ?? []).join(':').toUpperCase();
}

export function join(parts: readonly string[]): string {
  return parts.filter(Boolean).join(', ');
}

// A value of a data set: whole numbers as they are, others with five figures.
export function figure(value: Maybe): string {
  if (missing(value)) return dash;
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return number(value);
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-4) return numberFormat({ notation: 'scientific', maximumSignificantDigits: 4 }).format(value);
  return numberFormat({ maximumSignificantDigits: 5 }).format(value);
}
