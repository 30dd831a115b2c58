// Losing nodes: one goes unnoticed by the work, two stop changes and say so, and what comes back is whole again.
import { faults } from '../lib/browser.mjs';
import { check, needed, none, test } from '../lib/harness.mjs';

const nodes = (page) => page.getByRole('table', { name: 'Nodes' });
const ups = (page, count) => page.waitForFunction((wanted) => [...document.querySelectorAll('table tbody tr[role=row]')].filter((row) => /(^|\s)Up(\s|$)/.test(row.innerText)).length === wanted, count);

// Back on its feet, with the passphrase that somebody types there.
async function revive(world, box) {
  await box.start();
  if (box.phase === 'locked') await world.unlock(box);
}

test('cluster: pieces of a data set lie on two nodes, and their number can be chosen', async (world) => {
  const { page, witness } = await world.inside('/datasets');
  // The suites before this one leave data; run alone, the box makes its own.
  const sample = page.getByRole('button', { name: 'Load sample data' });
  await page.locator('tbody a').or(sample).first().waitFor();
  if ((await page.locator('tbody a').count()) === 0) await sample.click();
  await page.locator('tbody a').first().click();
  await page.getByRole('link', { name: 'Where it lies' }).click();
  await page.getByText('any 1 node may fail and nothing is lost').waitFor();
  await page.getByLabel('Copies of each piece').selectOption('3');
  await page.getByText('any 2 nodes may fail and nothing is lost').waitFor();
  await page.getByText('new here').first().waitFor();
  await world.picture(page, 'cluster-shards');
  none(await faults(page, witness), 'the shard map');
  await page.getByLabel('Copies of each piece').selectOption('0');
  await page.getByText('any 1 node may fail and nothing is lost').waitFor();
});

test(
  'cluster: a node dies and comes back while the page is open',
  needed(async (world) => {
    const box = world.boxes.at(-1);
    const { page, witness } = await world.inside('/nodes');
    witness.expecting(/status of 503/);
    await ups(page, 3);
    await box.stop('SIGKILL');
    await nodes(page).getByText('Unreachable').waitFor();
    await nodes(page).getByText(/Last heard/).waitFor();
    await world.picture(page, 'cluster-lost');
    none(await faults(page, witness), 'a lost node');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('2 of 3 nodes up; none may fail').waitFor();
    await page.goto(`${world.daemon.url}/doctor`);
    await page.getByRole('table', { name: 'Links between the nodes' }).getByText('Down').first().waitFor();
    none(await faults(page, witness), 'the doctor with a lost node');
    await revive(world, box);
    await page.goto(`${world.daemon.url}/nodes`);
    await ups(page, 3);
  }),
);

test('cluster: a side without a majority says that it cannot save, and goes on reading', async (world) => {
  const { page, witness } = await world.inside('/settings');
  witness.expecting(/status of 503/);
  await page.getByLabel('Name of the box').waitFor();
  for (const box of world.boxes) await box.stop('SIGKILL');
  await page.getByText('This side of the network cannot save changes').waitFor();
  await page.getByLabel('Name of the box').fill('Another name');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.locator('form').getByRole('alert').waitFor();
  none(await faults(page, witness), 'a side that cannot save');
  await world.picture(page, 'cluster-minority');
  await page.getByRole('link', { name: 'Data sets' }).click();
  await page.locator('tbody a').first().waitFor();
  for (const box of world.boxes) await revive(world, box);
  await page.locator('[data-banner=quorum]').waitFor({ state: 'detached' });
});

test('cluster: a node is removed only by its name', async (world) => {
  const { page, witness } = await world.confirmed('/nodes');
  await ups(page, 3);
  const last = nodes(page).locator('tbody tr[role=row]').filter({ hasNotText: 'serves this page' }).last();
  await last.getByRole('button', { name: /^Manage/ }).click();
  await page.getByRole('button', { name: 'Remove …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/It holds \d/).waitFor();
  none(await faults(page, witness), 'before removing');
  const remove = dialog.getByRole('button', { name: 'Remove the node' });
  check(await remove.isDisabled(), 'a node could be removed without its name');
  const label = await dialog.getByLabel(/to confirm$/).evaluate((input) => input.labels[0].textContent);
  await dialog.getByLabel(/to confirm$/).fill(label.replace(/^Type (.*) to confirm$/, '$1'));
  const risk = dialog.getByRole('checkbox');
  if (await risk.count()) {
    check(await remove.isDisabled(), 'a risk need not be accepted');
    await risk.check();
  }
  await remove.click();
  await dialog.waitFor({ state: 'detached' });
  await ups(page, 2);
});
