// When the session ends, the page stays: one logs in over it and goes on.
import { faults } from '../lib/browser.mjs';
import { equal, none, test } from '../lib/harness.mjs';
import { logIn } from './login.mjs';

test('session: logging in again keeps what was typed and finishes what was begun', async (world) => {
  const { context, page, witness } = await world.open();
  witness.expecting(/status of 401/);
  await page.goto(`${world.daemon.url}/tokens`);
  await logIn(page, world.admin.username, world.admin.password);
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Kept through it');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Log in again' });
  await dialog.waitFor();
  none(await faults(page, witness), 'log-in over the page');
  equal(await dialog.getByLabel('User name').inputValue(), world.admin.username, 'user name');
  await dialog.getByLabel('Password', { exact: true }).fill(world.admin.password);
  await page.keyboard.press('Enter');
  await page.getByText(/^smv_/).waitFor();
  await page.getByRole('button', { name: 'I have kept it' }).click();
  await page.getByRole('row', { name: /Kept through it/ }).waitFor();
});

test('session: leaving instead ends at the log-in page', async (world) => {
  const { context, page, witness } = await world.open();
  witness.expecting(/status of 401/);
  await page.goto(`${world.daemon.url}/users`);
  await logIn(page, world.admin.username, world.admin.password);
  await page.getByRole('rowheader').first().waitFor();
  await context.clearCookies();
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('dialog', { name: 'Log in again' }).getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
});

test('session: something delicate asks for the password again and then goes on', async (world) => {
  const { page, witness } = await world.confirmed('/tokens');
  witness.expecting(/status of 403/);
  let refused = false;
  await page.route('**/api/v1/tokens', (route) => {
    if (refused || route.request().method() !== 'POST') return route.continue();
    refused = true;
    return route.fulfill({ status: 403, contentType: 'application/problem+json', body: JSON.stringify({ code: 'reauth_required', status: 403 }) });
  });
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Name', { exact: true }).fill('After the password');
  await page.getByRole('button', { name: 'Create token' }).click();
  const dialog = page.getByRole('dialog', { name: 'Confirm it is you' });
  await dialog.getByLabel('Password', { exact: true }).fill(world.admin.password);
  none(await faults(page, witness), 'password again');
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText(/^smv_/).waitFor();
});
