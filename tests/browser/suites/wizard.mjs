// From an opened page to a box that is set up.
import { faults, themes, widths } from '../lib/browser.mjs';
import { check, equal, needed, none, test } from '../lib/harness.mjs';

const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor();
const go = (page) => page.getByRole('button', { name: 'Continue' }).click();

async function typeCode(page, code) {
  await page.getByLabel('Set-up code').fill(code);
  await page.getByRole('button', { name: 'Check the code' }).click();
}

async function fillAdmin(page, admin) {
  await page.getByLabel('User name').fill(admin.username);
  await page.getByLabel('Full name').fill(admin.displayName);
  await page.getByLabel('Password', { exact: true }).fill(admin.password);
}

async function fillPassphrase(page, passphrase) {
  await page.getByRole('radio', { name: 'With a passphrase' }).check();
  await page.getByLabel('Passphrase', { exact: true }).fill(passphrase);
  await page.getByLabel('Passphrase again').fill(passphrase);
}

// Through all steps up to the last button; `look` is called on each.
async function walk(world, page, look) {
  await page.goto(world.daemon.url);
  await heading(page, 'What shall this box be?');
  await look('begin');
  await page.getByRole('link', { name: 'A new system' }).click();
  await heading(page, 'Set up this box');
  await look('code');
  await typeCode(page, world.daemon.setupCode);
  await heading(page, 'Make the first administrator');
  await fillAdmin(page, world.admin);
  await look('admin');
  await go(page);
  await heading(page, 'Name the box');
  await page.getByLabel('Name of the box').fill(world.boxName);
  await page.getByLabel('Time zone').selectOption('Europe/Berlin');
  await look('box');
  await go(page);
  await heading(page, 'How does it unlock after a restart?');
  await page.getByRole('radio', { name: 'By itself' }).check();
  await look('unlock-file');
  await fillPassphrase(page, world.passphrase);
  await look('unlock');
  await go(page);
  await heading(page, 'Know your box');
  await look('certificate');
  await go(page);
  await heading(page, 'Review');
  await look('review');
}

for (const theme of themes) {
  for (const width of widths) {
    test(`wizard: every step is clean, ${theme} ${width}`, async (world) => {
      const { page, witness } = await world.open({ theme, width });
      await walk(world, page, async (step) => {
        await world.picture(page, `setup-${step}-${theme}-${width}`);
        none(await faults(page, witness), `step ${step}`);
      });
    });
  }
}

test('wizard: a wrong code is refused in words, beside the field', async (world) => {
  const { page, witness } = await world.open();
  witness.expecting(/status of 403/);
  await page.goto(`${world.daemon.url}/?start=new`);
  await typeCode(page, 'AAAA-AAAA-AAAA');
  await page.getByText('This is not the code').waitFor();
  equal(await page.getByLabel('Set-up code').getAttribute('aria-invalid'), 'true', 'the field is marked');
  none(await faults(page, witness), 'refused code');
});

test('wizard: Back keeps entries, a reload keeps what is not secret', async (world) => {
  const { page } = await world.open();
  await walk(world, page, async () => undefined);
  for (let i = 0; i < 4; i += 1) await page.getByRole('button', { name: 'Back' }).click();
  equal(await page.getByLabel('User name').inputValue(), world.admin.username, 'user name after Back');
  equal(await page.getByLabel('Password', { exact: true }).inputValue(), world.admin.password, 'password after Back');
  await page.reload();
  await page.getByText('Your entries are still here').waitFor();
  const stored = await page.evaluate(() => JSON.stringify({ ...sessionStorage, ...localStorage }));
  for (const secret of [world.daemon.setupCode, world.admin.password, world.passphrase]) check(!stored.includes(secret), 'a secret was stored in the browser');
  await typeCode(page, world.daemon.setupCode);
  await heading(page, 'Make the first administrator');
  equal(await page.getByLabel('User name').inputValue(), world.admin.username, 'user name after the reload');
  equal(await page.getByLabel('Password', { exact: true }).inputValue(), '', 'password after the reload');
});

test('wizard: a missing choice stops the step and takes the focus', async (world) => {
  const { page } = await world.open();
  await page.goto(`${world.daemon.url}/?start=new`);
  await typeCode(page, world.daemon.setupCode);
  await heading(page, 'Make the first administrator');
  await go(page);
  await page.getByText('beginning with a letter or digit').waitFor();
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-invalid') === 'true');
});

test(
  'wizard: the last button sets the box up and leads to the log-in page',
  needed(async (world) => {
    const { page, witness } = await world.open();
    await walk(world, page, async () => undefined);
    await page.getByRole('button', { name: 'Set up the box' }).click();
    await heading(page, 'Log in');
    await page.getByText('The box is set up').waitFor();
    equal(await page.getByLabel('User name').inputValue(), world.admin.username, 'user name filled in');
    none(await faults(page, witness), 'after set-up');
  }),
);
