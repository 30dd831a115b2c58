// The small parts of lib/: addresses, passwords, zones, the draft of the wizard.
import { beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../src/lib/api';
import { guidance } from '../../src/lib/password';
import { navigate, safeNext, setQuery } from '../../src/lib/router';
import { place } from '../../src/lib/stores';
import { timeZones } from '../../src/lib/zones';
import { check, serverErrors } from '../../src/routes/setup/checks';
import { emptyDraft, expectAdmin, finish, loadDraft, saveDraft, takeFreshAdmin, toRequest } from '../../src/routes/setup/draft';
import '../../src/messages/en-setup';

describe('router', () => {
  it('refuses to lead away after log-in', () => {
    expect(safeNext('/nodes?range=1h')).toBe('/nodes?range=1h');
    for (const bad of ['//evil.example', 'https://evil.example', '/\\evil.example', null, '']) expect(safeNext(bad)).toBe('/');
  });

  it('changes only the named part of the query', () => {
    navigate('/audit?q=x&actor=ada');
    setQuery({ q: undefined, sort: 'name' });
    expect(place.value.query.toString()).toBe('actor=ada&sort=name');
  });
});

describe('password guidance', () => {
  it('refuses what is short or repeats, and warns of the obvious', () => {
    expect(guidance('short').level).toBe(0);
    expect(guidance('aaaaaaaaaaaaaa').level).toBe(0);
    expect(guidance('samovar-4711-x').level).toBe(1);
    expect(guidance('ada-lovelace-12', 'lovelace').level).toBe(1);
    expect(guidance('many small blue boats').level).toBe(3);
  });
});

describe('zones', () => {
  it('always offers UTC and the one in use', () => {
    const values = timeZones('Mars/Olympus').map((zone) => zone.value);
    expect(values).toContain('UTC');
    expect(values).toContain('Mars/Olympus');
  });
});

describe('wizard', () => {
  beforeEach(() => sessionStorage.clear());
  const full = { ...emptyDraft('box'), step: 3, username: 'ada', code: 'CODE', password: 'pass words here', passphrase: 'other words here', passphraseAgain: 'other words here', mode: 'passphrase' as const };

  it('keeps plain entries over a reload and never a secret', () => {
    saveDraft(full);
    const stored = sessionStorage.getItem('samovar.setup') ?? '';
    for (const secret of [full.code, full.password, full.passphrase]) expect(stored).not.toContain(secret);
    const { draft, resumed } = loadDraft('box');
    expect(resumed).toBe(true);
    expect(draft).toMatchObject({ username: 'ada', mode: 'passphrase', step: 0, code: '', password: '', passphrase: '' });
  });

  it('survives a damaged draft', () => {
    sessionStorage.setItem('samovar.setup', '{not json');
    expect(loadDraft('box').resumed).toBe(false);
  });

  it('asks for what is missing and for the risk to be seen', () => {
    expect(check('code', emptyDraft('')).code).toBeTruthy();
    expect(check('admin', { ...full, username: 'Not ok' }).username).toBeTruthy();
    expect(check('unlock', { ...full, passphraseAgain: 'x' }).passphraseAgain).toBeTruthy();
    expect(check('unlock', { ...full, passphrase: full.password, passphraseAgain: full.password }).passphrase).toBeTruthy();
    expect(check('unlock', { ...full, mode: 'key_file' }).riskSeen).toBeTruthy();
    expect(check('unlock', full)).toEqual({});
  });

  it('sends no passphrase in key-file mode', () => {
    expect(toRequest({ ...full, mode: 'key_file' }).unlock).toEqual({ mode: 'key_file' });
  });

  it('shows the step of the first field the box refused', () => {
    const error = new ApiError({ status: 422, code: 'validation', errors: [{ pointer: '/admin/password', code: 'weak', detail: 'too common' }] });
    expect(serverErrors(error)).toEqual({ step: 1, found: { password: 'too common' } });
  });

  it('greets the new administrator once', () => {
    expectAdmin('ada');
    finish();
    expect(takeFreshAdmin()).toBe('ada');
    expect(takeFreshAdmin()).toBeNull();
  });
});
