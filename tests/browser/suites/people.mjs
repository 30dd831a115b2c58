// Users, tokens, sessions, audit log and settings, as an administrator uses them.
import { readFileSync } from 'node:fs';
import { faults } from '../lib/browser.mjs';
import { check, equal, none, test } from '../lib/harness.mjs';
import { logIn } from './login.mjs';

const password = 'green lamps over water';
const said = (page, text) => page.getByRole('log').getByText(text).waitFor();

test('people: a user is made, switched off, and Undo takes it back', async (world) => {
  const { page, witness } = await world.confirmed('/users');
  await page.getByText('You are the only administrator').waitFor();
  await page.getByRole('button', { name: 'Add user' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add user' });
  await dialog.getByLabel('User name').fill('grace');
  await dialog.getByLabel('Full name').fill('Grace Hopper');
  await dialog.getByLabel('Role').selectOption('viewer');
  await dialog.getByLabel('First password').fill(password);
  none(await faults(page, witness), 'dialog');
  await dialog.getByRole('button', { name: 'Create user' }).click();
  await said(page, 'Created grace');
  await page.getByRole('button', { name: 'Edit grace' }).click();
  await page.getByRole('button', { name: 'Switch off account' }).click();
  await page.getByRole('row', { name: /grace/ }).getByText('Switched off').waitFor();
  await page.getByRole('log').getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('row', { name: /grace/ }).getByText('Active').waitFor();
  none(witness.take(), 'users');
});

test('people: deleting asks, with the safe button in focus', async (world) => {
  const { page } = await world.confirmed('/users');
  await page.getByRole('button', { name: 'Delete grace' }).click();
  await page.getByRole('dialog', { name: 'Delete grace?' }).waitFor();
  equal(await page.evaluate(() => document.activeElement?.textContent), 'Cancel', 'focus');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.getByRole('row', { name: /grace/ }).waitFor();
});

test('people: a viewer sees the box and none of the administration', async (world) => {
  const { page, witness } = await world.open();
  await page.goto(world.daemon.url);
  await logIn(page, 'grace', password);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const links = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts();
  equal(links, ['Overview', 'Nodes', 'Power', 'Data sets', 'Jobs', 'Models', 'API tokens', 'Sessions'], 'navigation');
  none(await faults(page, witness), 'overview of a viewer');
});

test('people: a token is shown once and can be revoked', async (world) => {
  const { page, witness } = await world.confirmed('/tokens');
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Prometheus');
  await page.getByRole('button', { name: 'Create token' }).click();
  const secret = page.getByText(/^smv_/);
  await secret.waitFor();
  const text = await secret.innerText();
  none(await faults(page, witness), 'token dialog');
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await page.getByRole('row', { name: /Prometheus/ }).waitFor();
  check(!(await page.content()).includes(text), 'the token is still on the page');
  await page.getByRole('button', { name: 'Revoke Prometheus' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No API tokens').waitFor();
  none(witness.take(), 'tokens');
});

test('people: the audit log is verified, opened and filtered', async (world) => {
  const { page, witness } = await world.confirmed('/audit');
  await page.getByRole('rowheader').first().waitFor();
  await page.getByRole('button', { name: 'Verify the chain' }).click();
  await page.getByText(/^Intact: \d/).waitFor();
  await page.getByRole('button', { name: /^Details of entry/ }).first().click();
  await page.getByText('Hash', { exact: true }).waitFor();
  none(await faults(page, witness), 'audit log');
  await page.getByRole('search').getByLabel('Search').fill('grace');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL(/q=grace/);
  equal(await page.getByRole('button', { name: 'Export' }).count(), 0, 'export for an administrator');
  none(witness.take(), 'audit log');
});

test('people: an auditor exports the log, or the part the filter leaves', async (world) => {
  const { page: users } = await world.confirmed('/users');
  await users.getByRole('button', { name: 'Add user' }).click();
  const dialog = users.getByRole('dialog', { name: 'Add user' });
  await dialog.getByLabel('User name').fill('olga');
  await dialog.getByLabel('Role').selectOption('auditor');
  await dialog.getByLabel('First password').fill(password);
  await dialog.getByRole('button', { name: 'Create user' }).click();
  await said(users, 'Created olga');

  const { page, witness } = await world.open();
  await page.goto(`${world.daemon.url}/audit`);
  await logIn(page, 'olga', password);
  const lines = async () => {
    const coming = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    return readFileSync(await (await coming).path(), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
  };
  equal((await lines())[0].seq, 1, 'first exported entry');
  await page.getByRole('search').getByLabel('Search').fill('olga');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.waitForURL(/q=olga/);
  check((await lines())[0].seq > 1, 'the filter does not reach the export');
  none(witness.take(), 'export');
});

test('people: a new entry waits behind a button', async (world) => {
  const { context, page } = await world.confirmed('/audit');
  await page.getByRole('rowheader').first().waitFor();
  const other = await context.newPage();
  await other.goto(`${world.daemon.url}/tokens`);
  await other.getByRole('button', { name: 'New token' }).click();
  await other.getByLabel('Name', { exact: true }).fill('Night export');
  await other.getByRole('button', { name: 'Create token' }).click();
  await other.getByText(/^smv_/).waitFor();
  await page.getByRole('button', { name: /new entr/ }).click();
  await page.getByRole('button', { name: /new entr/ }).waitFor({ state: 'hidden' });
});

test('people: settings are saved, and the banner stands on the log-in page', async (world) => {
  const { page, witness } = await world.confirmed('/settings');
  const banner = 'Authorised staff only.';
  await page.getByLabel('Text on the log-in page').fill(banner);
  await page.getByRole('button', { name: 'Save' }).and(page.locator(':enabled')).click();
  await said(page, 'Saved');
  none(witness.take(), 'settings');
  const outside = await world.open();
  await outside.page.goto(world.daemon.url);
  await outside.page.getByText(banner).waitFor();
});

test('people: the box can be renamed', async (world) => {
  const { page, witness } = await world.confirmed('/settings');
  const field = page.getByLabel('Name of the box');
  await page.waitForFunction((name) => [...document.querySelectorAll('input')].some((one) => one.value === name), world.boxName);
  await field.fill('Ward 5');
  await page.getByRole('button', { name: 'Save' }).and(page.locator(':enabled')).click();
  await page.getByRole('banner').getByText('Ward 5').waitFor();
  await field.fill(world.boxName);
  await page.getByRole('button', { name: 'Save' }).and(page.locator(':enabled')).click();
  await page.getByRole('banner').getByText(world.boxName).waitFor();
  none(witness.take(), 'settings');
});
