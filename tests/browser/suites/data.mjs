// From a dropped file to a data set one can trust: understood, corrected, looked at, changed, shared, deleted, restored.
import { readFileSync } from 'node:fs';
import { faults } from '../lib/browser.mjs';
import { drop, stays } from '../lib/files.mjs';
import { check, equal, none, test } from '../lib/harness.mjs';
import { logIn } from './login.mjs';

const rows = 3000;
const said = (page, text) => page.getByRole('log').getByText(text).first().waitFor();
const done = (page, name) => page.locator('[data-operation=done]').filter({ has: page.getByRole('heading', { name, exact: true }) }).waitFor();

async function openSet(world, name, query = '', options = {}) {
  const opened = await world.inside('/datasets', options);
  await opened.page.getByRole('link', { name, exact: true }).click();
  await opened.page.getByRole('heading', { level: 1, name }).waitFor();
  if (query) await opened.page.goto(`${opened.page.url()}?${query}`);
  return opened;
}

test('data: the sample is made by the box itself', async (world) => {
  const { page, witness } = await world.inside('/datasets');
  await page.getByRole('button', { name: 'Load sample data' }).click();
  await page.locator('[data-operation=done]').waitFor();
  await page.getByRole('link', { name: /^Open / }).click();
  await page.locator('main svg[role=img]').first().waitFor();
  none(await faults(page, witness), 'the sample');
});

test('data: a dropped file is understood, corrected and becomes a data set', async (world) => {
  const { page, witness } = await world.inside('/datasets');
  await drop(page, [{ name: 'ward_stays.csv', text: stays(rows) }]);
  const form = page.getByRole('form', { name: 'How Samovar understood ward_stays.csv' });
  await form.getByText('separated by semicolon').waitFor();
  await form.getByText('decimal comma').waitFor();
  equal(await form.getByLabel('Type of age').inputValue(), 'integer', 'type of age');
  equal(await form.getByLabel('Type of creatinine').inputValue(), 'real', 'type of creatinine');
  equal(await form.getByLabel('Type of admitted').inputValue(), 'time', 'type of admitted');
  check(await form.getByLabel('email is sensitive').isChecked(), 'addresses are not taken for sensitive');
  none(await faults(page, witness), 'review');
  await world.picture(page, 'data-review');

  await form.getByText('Not right?').click();
  const looked = page.waitForResponse((answer) => answer.url().includes(':inspect'));
  await form.getByLabel('First line').selectOption('no');
  check((await looked).ok(), 'the second look was refused');
  await form.getByText('no line of names').waitFor();
  await form.getByLabel('First line').selectOption('');
  await form.getByText('names in the first line').waitFor();
  none(await faults(page, witness), 'review with options');

  await form.getByLabel('Type of ward').selectOption('text');
  await form.getByLabel('Name of stay').fill('stay number');
  await form.getByLabel('Name of the data set').fill('Ward stays');
  await form.getByRole('button', { name: 'Create data set' }).click();
  await done(page, 'Ward stays');
  await said(page, 'Ready: Ward stays');
  equal(await page.locator('[data-transfer]').count(), 0, 'cards of the file');
  await page.getByRole('row', { name: /Ward stays/ }).getByText(rows.toLocaleString('en-GB')).waitFor();
  none(await faults(page, witness), 'list');
});

test('data: the profile shows what is in it, in pictures, words and a table', async (world) => {
  const { page, witness } = await openSet(world, 'Ward stays');
  await page.getByRole('rowheader', { name: 'stay number' }).waitFor();
  await page.getByRole('img', { name: /^age: from 18 to 92/ }).waitFor();
  await page.getByRole('button', { name: 'Details of age' }).click();
  const figure = page.getByRole('figure', { name: 'Values of age' });
  await figure.getByRole('button', { name: 'Table' }).click();
  await figure.getByRole('rowheader').first().waitFor();
  await page.getByLabel('What would you predict?').selectOption('readmitted');
  await page.waitForURL(/target=readmitted/);
  const age = page.getByRole('row', { name: /^age/ });
  await age.getByText(/0\.\d\d/).waitFor();
  none(await faults(page, witness), 'profile');
  await world.picture(page, 'data-profile');
});

test('data: the first rows, where it lies, and a download', async (world) => {
  const { page, witness } = await openSet(world, 'Ward stays', 'tab=rows');
  await page.getByRole('heading', { level: 2, name: 'The first 100 rows' }).waitFor();
  const grid = page.getByRole('region', { name: /First rows/ });
  check((await grid.innerText()).includes('cardiology'), 'no values in the rows');
  check(!(await page.content()).includes('@example.org'), 'a sensitive cell is not masked');
  none(await faults(page, witness), 'rows');
  await page.getByRole('link', { name: 'Where it lies' }).click();
  await page.getByText('Each piece lies on one node only').waitFor();
  await page.getByRole('rowheader', { name: 'Shard 0' }).waitFor();
  none(await faults(page, witness), 'shards');
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download CSV' }).click();
  const text = readFileSync(await (await coming).path(), 'utf8');
  equal(text.trim().split('\n').length, rows + 1, 'lines of the download');
  check(text.startsWith('stay number,'), `the file begins with ${text.slice(0, 40)}`);
});

test('data: another type is a new version, and the old one stays', async (world) => {
  const { page, witness } = await openSet(world, 'Ward stays');
  await page.getByRole('button', { name: 'Change types and names' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change types and names' });
  await dialog.getByLabel('Type of ward').selectOption('category');
  none(await faults(page, witness), 'dialog');
  await dialog.getByRole('button', { name: 'Make version 2' }).click();
  await said(page, 'Ready: Ward stays');
  await page.getByLabel('Version').waitFor();
  const ward = page.getByRole('row', { name: /^ward/ });
  await ward.getByText('Category').waitFor();
  await page.getByRole('img', { name: /^ward, most common/ }).waitFor();
  await page.getByLabel('Version').selectOption('1');
  await page.getByText('You are looking at version 1').waitFor();
  await ward.getByText('Text').waitFor();
  none(await faults(page, witness), 'old version');
});

test('data: rows that cannot be read are counted, shown and handed out', async (world) => {
  const { page, witness } = await world.inside('/datasets');
  const lines = stays(500).split('\n');
  lines[40] += ';one cell too many';
  await drop(page, [{ name: 'ragged.csv', text: lines.join('\n') }]);
  await page.getByRole('button', { name: 'Create data set' }).click();
  await done(page, 'ragged');
  await page.getByRole('link', { name: 'Open ragged' }).click();
  await page.getByRole('link', { name: /^Rows left out/ }).click();
  await page.getByRole('rowheader', { name: '41', exact: true }).waitFor();
  none(await faults(page, witness), 'rows left out');
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download all' }).click();
  check(readFileSync(await (await coming).path(), 'utf8').includes('41,'), 'the line is missing from the file');
});

test('data: several files are accepted with one press', async (world) => {
  const { page, witness } = await world.inside('/datasets');
  await drop(page, ['one', 'two'].map((name) => ({ name: `${name}.csv`, text: stays(200) })));
  await page.getByRole('button', { name: 'Accept all 2 as found' }).waitFor();
  none(await faults(page, witness), 'several files');
  await page.getByRole('button', { name: 'Accept all 2 as found' }).click();
  await done(page, 'one');
  await done(page, 'two');
  await page.getByLabel('Search data sets').fill('tw');
  await page.waitForURL(/q=tw/);
  await page.reload();
  await page.getByRole('link', { name: 'two', exact: true }).waitFor();
  equal(await page.getByRole('rowheader').count(), 1, 'rows that match');
});

test('data: what is no table is refused in words and can be discarded', async (world) => {
  const { page, witness } = await world.inside('/datasets');
  witness.expecting(/status of 4/);
  await drop(page, [{ name: 'picture.csv', text: `\u0089PNG\r\n\u001a\n\u0000\u0000\u0000\rIHDR${'\u0000\u0001\u0002'.repeat(200)}` }]);
  await page.locator('[data-transfer=sent]').getByRole('alert').waitFor();
  none(await faults(page, witness), 'refused file');
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.locator('[data-transfer]').waitFor({ state: 'detached' });
});

test('data: deleting is undone at once, or later from the bin', async (world) => {
  const { page, witness } = await openSet(world, 'Ward stays');
  await page.getByRole('button', { name: 'Delete' }).click();
  await said(page, 'Moved to the bin: Ward stays');
  await page.getByRole('log').getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('link', { name: 'Ward stays', exact: true }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { level: 1, name: 'Data sets' }).waitFor();
  await page.getByRole('link', { name: 'Bin' }).click();
  await page.getByRole('heading', { level: 1, name: 'Bin' }).waitFor();
  await page.getByRole('rowheader', { name: 'Ward stays' }).waitFor();
  none(await faults(page, witness), 'bin');
  await page.getByRole('button', { name: 'Restore Ward stays' }).click();
  await said(page, 'Restored Ward stays');
  await page.getByText('The bin is empty').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  await page.getByRole('link', { name: 'Ward stays', exact: true }).click();
  await page.getByRole('img', { name: /^age: from 18 to 92/ }).waitFor();
  none(witness.take(), 'restored');
});

test('data: destroying wants the name, with the safe button in focus', async (world) => {
  const { page, witness } = await world.confirmed('/datasets');
  await page.getByRole('link', { name: 'two', exact: true }).click();
  await page.getByRole('button', { name: 'Delete' }).click();
  await said(page, 'Moved to the bin: two');
  await page.getByRole('link', { name: 'Bin' }).click();
  await page.getByRole('button', { name: 'Destroy now: two' }).click();
  const dialog = page.getByRole('dialog', { name: 'Destroy two?' });
  await dialog.waitFor();
  equal(await page.evaluate(() => document.activeElement?.textContent), 'Cancel', 'focus');
  check(await dialog.getByRole('button', { name: 'Destroy now' }).isDisabled(), 'it can be destroyed without the name');
  none(await faults(page, witness), 'dialog');
  await dialog.getByLabel('Type two to confirm').fill('two');
  await dialog.getByRole('button', { name: 'Destroy now' }).click();
  await page.getByText('The bin is empty').waitFor();
});

test('data: a viewer with whom it is shared sees what it is like, and no row', async (world) => {
  const { page: mine, witness: owner } = await world.confirmed('/datasets');
  const password = 'grey doves above roofs';
  await mine.evaluate(async (secret) => {
    const { csrf } = await (await fetch('/api/v1/session')).json();
    const body = JSON.stringify({ username: 'vera', display_name: 'Vera Rubin', role: 'viewer', password: secret });
    const answer = await fetch('/api/v1/users', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-CSRF': csrf }, body });
    if (!answer.ok) throw new Error(`the viewer was not made: ${answer.status}`);
  }, password);
  await mine.getByRole('link', { name: 'Ward stays', exact: true }).click();
  await mine.getByRole('link', { name: 'Access' }).click();
  await mine.getByLabel('Person').selectOption({ label: 'Vera Rubin (vera)' });
  await mine.getByRole('button', { name: 'Share' }).click();
  await mine.getByRole('rowheader', { name: 'vera' }).waitFor();
  none(await faults(mine, owner), 'access');

  const { page, witness } = await world.open();
  await page.goto(`${world.daemon.url}/datasets`);
  await logIn(page, 'vera', password);
  await page.getByRole('link', { name: 'Ward stays', exact: true }).click();
  await page.getByText('groups of fewer than 10 are left out').waitFor();
  equal(await page.getByRole('link', { name: 'Download CSV' }).count(), 0, 'downloads offered');
  equal(await page.getByRole('button', { name: 'Delete' }).count(), 0, 'buttons to delete');
  await page.getByRole('link', { name: 'First rows' }).click();
  await page.getByText('The rows are not yours to see').waitFor();
  none(await faults(page, witness), 'data set of a viewer');
});
