// The power budget, as an administrator sets it: what holds is said at once, and Undo takes it back.
import { faults } from '../lib/browser.mjs';
import { check, none, test } from '../lib/harness.mjs';

test('power: a budget is set, holds, and Undo takes it back', async (world) => {
  const { page, witness } = await world.inside('/power');
  await page.getByText('No budget: nodes draw what their work takes.').waitFor();
  await page.getByRole('table', { name: 'Nodes' }).getByText('Reports').waitFor();
  await page.getByLabel('Watts of all nodes together').fill('500');
  await page.getByRole('button', { name: 'Add a time' }).click();
  check(await page.getByRole('group', { name: 'Time 1' }).isVisible(), 'a time of the schedule');
  await page.getByRole('button', { name: 'Remove time 1' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('hold now: the budget that was set').waitFor();
  none(await faults(page, witness), 'power');
  await page.getByRole('log').getByRole('button', { name: 'Undo' }).click();
  await page.getByText('No budget: nodes draw what their work takes.').waitFor();
});

test('power: what is wrong is said beside it', async (world) => {
  const { page } = await world.inside('/power');
  await page.getByLabel('Watts of all nodes together').fill('0.2');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('budget_watts must be 1 to 100000.').first().waitFor();
});
