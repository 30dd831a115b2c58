// Text lookup. Every word a person reads comes from src/messages; plural forms are chosen by Intl.PluralRules.
//
// The pseudo-locale lengthens and marks each text, so that a test sees what was typed into a page by hand
// and what is cut off when a language is longer than English.
import { en, type Messages } from '../messages/en';
import type { accessTexts } from '../messages/en-access';
import type { dataTexts } from '../messages/en-data';
import type { dialogTexts } from '../messages/en-dialogs';
import type { doctorTexts } from '../messages/en-doctor';
import type { gateTexts } from '../messages/en-gate';
import type { modelTexts } from '../messages/en-models';
import type { oneNodeTexts } from '../messages/en-node';
import type { nodeTexts } from '../messages/en-nodes';
import type { overviewTexts } from '../messages/en-overview';
import type { peerTexts } from '../messages/en-peers';
import type { powerTexts } from '../messages/en-power';
import type { removeTexts } from '../messages/en-remove';
import type { setupTexts } from '../messages/en-setup';
import type { workTexts } from '../messages/en-work';

export type MessageKey =
  | keyof typeof en
  | keyof typeof accessTexts
  | keyof typeof dataTexts
  | keyof typeof dialogTexts
  | keyof typeof doctorTexts
  | keyof typeof gateTexts
  | keyof typeof modelTexts
  | keyof typeof nodeTexts
  | keyof typeof oneNodeTexts
  | keyof typeof overviewTexts
  | keyof typeof peerTexts
  | keyof typeof powerTexts
  | keyof typeof removeTexts
  | keyof typeof setupTexts
  | keyof typeof workTexts;
type Vars = Record<string, string | number>;

const table: Messages = { ...en };

// Pages that are loaded later bring their texts along.
export function addMessages(more: Messages): void {
  Object.assign(table, more);
}

let pseudo = false;
let language = 'en';
let rules = new Intl.PluralRules(language);

export function useLocale(name: 'en' | 'pseudo'): void {
  pseudo = name === 'pseudo';
  language = 'en';
  rules = new Intl.PluralRules(language);
}

export function locale(): string {
  return language;
}

const accents: Record<string, string> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', c: 'ç', n: 'ñ', A: 'Á', E: 'É', O: 'Ó' };

export function pseudoText(text: string): string {
  const marked = text.replace(/\{\w+\}|[aeioucnAEO]/g, (m) => accents[m] ?? m);
  return `[${marked}${'·'.repeat(Math.ceil(text.length * 0.3))}]`;
}

function fill(text: string, vars: Vars | undefined): string {
  if (!vars) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => (name in vars ? String(vars[name]) : whole));
}

export function t(key: MessageKey, vars?: Vars): string {
  const message = table[key] ?? key;
  let text: string;
  if (typeof message === 'string') text = message;
  else {
    const form = rules.select(Number(vars?.count ?? 0));
    text = (form === 'one' ? message.one : undefined) ?? message.other;
  }
  return fill(pseudo ? pseudoText(text) : text, vars);
}

// For codes that come from the server: the text if we have one, else the fallback.
export function tMaybe(key: string, fallback: string, vars?: Vars): string {
  return key in table ? t(key as MessageKey, vars) : fallback;
}
