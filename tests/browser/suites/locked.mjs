// After a restart the box waits for its passphrase.
import { faults, themes, widths } from '../lib/browser.mjs';
import { equal, needed, none, test } from '../lib/harness.mjs';

const locked = (page) => page.getByRole('heading', { level: 1, name: 'This box is locked' }).waitFor();

test(
  'locked: the box starts locked after a restart',
  needed(async (world) => {
    await world.daemon.restart();
    equal(world.daemon.phase, 'locked', 'phase');
  }),
);

for (const theme of themes) {
  for (const width of widths) {
    test(`locked: the page is clean, ${theme} ${width}`, async (world) => {
      const { page, witness } = await world.open({ theme, width });
      await page.goto(`${world.daemon.url}/nodes`);
      await locked(page);
      await world.picture(page, `locked-${theme}-${width}`);
      none(await faults(page, witness), 'locked page');
    });
  }
}

test(
  'locked: a wrong passphrase is refused, the right one opens the log-in page',
  needed(async (world) => {
    const { page, witness } = await world.open();
    witness.expecting(/status of 403/);
    await page.goto(world.daemon.url);
    await locked(page);
    const field = page.getByLabel('Passphrase', { exact: true });
    await field.fill('quite another passphrase');
    await page.getByRole('button', { name: 'Unlock' }).click();
    await page.getByText('This is not the passphrase').waitFor();
    await field.fill(world.passphrase);
    await page.getByRole('button', { name: 'Unlock' }).click();
    await page.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
    none(await faults(page, witness), 'log-in page');
  }),
);
