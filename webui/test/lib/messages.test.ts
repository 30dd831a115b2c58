import { afterEach, describe, expect, it } from 'vitest';
import { pseudoText, t, tMaybe, useLocale } from '../../src/lib/messages';
import { en, type Messages, type Plural } from '../../src/messages/en';
import { accessTexts } from '../../src/messages/en-access';
import { dataTexts } from '../../src/messages/en-data';
import { dialogTexts } from '../../src/messages/en-dialogs';
import { doctorTexts } from '../../src/messages/en-doctor';
import { gateTexts } from '../../src/messages/en-gate';
import { modelTexts } from '../../src/messages/en-models';
import { oneNodeTexts } from '../../src/messages/en-node';
import { nodeTexts } from '../../src/messages/en-nodes';
import { overviewTexts } from '../../src/messages/en-overview';
import { peerTexts } from '../../src/messages/en-peers';
import { removeTexts } from '../../src/messages/en-remove';
import { setupTexts } from '../../src/messages/en-setup';
import { workTexts } from '../../src/messages/en-work';

const files: Messages[] = [en, accessTexts, dataTexts, dialogTexts, doctorTexts, gateTexts, modelTexts, nodeTexts, oneNodeTexts, overviewTexts, peerTexts, removeTexts, setupTexts, workTexts];
const all: Messages = Object.assign({}, ...files) as Messages;
const names = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();
const forms = (message: string | Plural): string[] => (typeof message === 'string' ? [message] : Object.values(message));

describe('messages', () => {
  afterEach(() => useLocale('en'));

  it('fills names in and leaves unknown ones visible', () => {
    expect(t('frame.version', { version: '1.2' })).toBe('Version 1.2');
    expect(t('frame.version', {})).toBe('Version {version}');
  });

  it('chooses the plural form by the count', () => {
    expect(t('audit.new', { count: 1 })).toBe('1 new entry');
    expect(t('audit.new', { count: 2 })).toBe('2 new entries');
  });

  it('finds the texts that pages bring along', () => {
    expect(t('setup.finish')).toBe('Set up the box');
    expect(t('users.create')).toBe('Create user');
  });

  it('uses the fallback for codes without a text', () => {
    expect(tMaybe('problem.no_such_code', 'as told')).toBe('as told');
    expect(tMaybe('problem.wrong_password', 'as told')).toBe('The password is wrong.');
  });

  it('has no name in one plural form that the other lacks', () => {
    for (const message of Object.values(all)) {
      // "The first row" may leave its number out.
      const last = names(forms(message).at(-1)!);
      for (const form of forms(message)) for (const name of names(form)) expect(last).toContain(name);
    }
  });

  it('has no key in two files', () => {
    const count = files.reduce((sum, file) => sum + Object.keys(file).length, 0);
    expect(Object.keys(all)).toHaveLength(count);
  });

  it('keeps names and grows in the pseudo-locale', () => {
    for (const message of Object.values(all)) {
      for (const form of forms(message)) {
        const pseudo = pseudoText(form);
        expect(names(pseudo)).toEqual(names(form));
        expect(pseudo.length).toBeGreaterThan(form.length * 1.25);
        expect(pseudo).toMatch(/^\[.*\]$/s);
      }
    }
    useLocale('pseudo');
    expect(t('frame.version', { version: '1.2' })).toMatch(/^\[Vérsíóñ 1\.2·+\]$/);
  });
});
