// Getting in: by keyboard alone, to the page one wanted.
import { faults, themes, widths } from '../lib/browser.mjs';
import { check, equal, needed, none, test } from '../lib/harness.mjs';

export async function logIn(page, username, password) {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute('name') ?? document.activeElement?.textContent ?? '');

async function tabTo(page, name) {
  for (let i = 0; i < 12; i += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page)).trim() === name) return;
  }
  throw new Error(`${name} cannot be reached with Tab`);
}

for (const theme of themes) {
  for (const width of widths) {
    test(`login: the page is clean, ${theme} ${width}`, async (world) => {
      const { page, witness } = await world.open({ theme, width });
      await page.goto(world.daemon.url);
      await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
      await world.picture(page, `login-${theme}-${width}`);
      none(await faults(page, witness), 'log-in page');
    });
  }
}

test('login: a wrong password is refused and the field is ready for the next', async (world) => {
  const { page, witness } = await world.open();
  witness.expecting(/status of 401/);
  await page.goto(world.daemon.url);
  await logIn(page, world.admin.username, 'not the password at all');
  await page.getByText('User name or password is wrong').waitFor();
  equal(await page.getByLabel('Password', { exact: true }).inputValue(), '', 'the password field');
  await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'password');
  none(await faults(page, witness), 'refused log-in');
});

test(
  'login: by keyboard alone, and the address one wanted is kept',
  needed(async (world) => {
    const { context, page, witness } = await world.open();
    await page.goto(`${world.daemon.url}/nodes?sort=-cpu`);
    await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
    await tabTo(page, 'username');
    await page.keyboard.type(world.admin.username);
    await tabTo(page, 'password');
    await page.keyboard.type(world.admin.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor();
    equal(new URL(page.url()).pathname + new URL(page.url()).search, '/nodes?sort=-cpu', 'address');
    await page.getByRole('log').getByText('log-in').waitFor();
    world.state = await context.storageState();
    none(await faults(page, witness), 'first page');
  }),
);

test('login: the keyboard reaches every page, "g n" jumps, "?" helps', async (world) => {
  const { page } = await world.inside('/');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor();
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await dialog.waitFor();
  await dialog.getByLabel('Use keyboard shortcuts').uncheck();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await page.keyboard.press('g');
  await page.keyboard.press('o');
  await page.getByRole('link', { name: 'Audit log' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
  check(page.url().endsWith('/audit'), 'a switched-off shortcut acted');
});

test('login: log-out ends the session in every tab', async (world) => {
  const { context, page } = await world.open();
  await page.goto(world.daemon.url);
  await logIn(page, world.admin.username, world.admin.password);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const other = await context.newPage();
  await other.goto(`${world.daemon.url}/nodes`);
  await other.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor();
  await page.getByRole('button', { name: /Signed in as/ }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  for (const one of [page, other]) await one.getByText('You are logged out').waitFor();
});
