// From one box to three: found on the network, approved by the digits on their own screens, then one system.
import { faults, themes, widths } from '../lib/browser.mjs';
import { freePort } from '../lib/daemon.mjs';
import { check, equal, needed, none, test } from '../lib/harness.mjs';

const row = (page, box) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: new RegExp(box.shortId) }) });
const nodeRows = (page) => page.getByRole('table', { name: 'Nodes' }).locator('tbody tr[role=row]');

// What the new box says on its own page. Opened on the box itself, as by somebody who sits at it.
async function ownPage(world, box) {
  const opened = await world.open({ box });
  await opened.page.goto(`${box.url}/?start=join`);
  await opened.page.getByRole('heading', { level: 1, name: 'Join an existing cluster' }).waitFor();
  box.shortId = (await opened.page.getByRole('heading', { name: 'The identity of this box' }).locator('xpath=following-sibling::p').innerText()).trim();
  return opened.page;
}

async function digitsOn(own) {
  const panel = own.getByRole('heading', { name: 'Type these digits' }).locator('xpath=following-sibling::p');
  await panel.waitFor();
  return (await panel.innerText()).trim();
}

async function askToJoin(world, page, box) {
  await row(page, box).getByRole('button', { name: 'Approve' }).click();
  await page.getByLabel('Password', { exact: true }).fill(world.admin.password);
  await page.getByRole('button', { name: 'Ask it to join' }).click();
  await page.getByLabel('Code on its screen').waitFor();
}

async function typeDigits(page, digits) {
  await page.getByLabel('Code on its screen').fill(digits);
  await page.getByRole('button', { name: 'Let it join' }).click();
}

test('cluster: a box alone says how to add more, and hears nobody', async (world) => {
  const { page, witness } = await world.inside('/nodes');
  await page.getByText('This box works alone').waitFor();
  await page.getByRole('link', { name: 'Add a node' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Add a node' }).waitFor();
  await page.getByText('Plug it into the same switch').waitFor();
  await world.picture(page, 'peers-empty');
  none(await faults(page, witness), 'nobody waits');
});

test(
  'cluster: a new box tells how it joins, and appears by itself',
  needed(async (world) => {
    const { page } = await world.inside('/peers');
    await page.getByText('No box is waiting').waitFor();
    const box = await world.box();
    for (const theme of themes) {
      for (const width of widths) {
        const opened = await world.open({ box, theme, width });
        await opened.page.goto(box.url);
        await opened.page.getByRole('heading', { level: 1, name: 'What shall this box be?' }).waitFor();
        none(await faults(opened.page, opened.witness), `the first question, ${theme} ${width}`);
        await opened.page.getByRole('link', { name: 'Join an existing cluster' }).click();
        await opened.page.getByText('Waiting for an administrator').waitFor();
        await world.picture(opened.page, `join-${theme}-${width}`);
        none(await faults(opened.page, opened.witness), `how to join, ${theme} ${width}`);
        await opened.context.close();
      }
    }
    await ownPage(world, box);
    await row(page, box).getByText('Waits to be added').waitFor();
  }),
);

test('cluster: Later puts a box off, Block bars it until it is unblocked', async (world) => {
  const [box] = world.boxes;
  const { page, witness } = await world.confirmed('/peers');
  await row(page, box).getByRole('button', { name: 'Later' }).click();
  await page.getByRole('button', { name: /is put off/ }).click();
  await row(page, box).getByRole('button', { name: 'Block' }).click();
  await page.getByRole('heading', { level: 2, name: 'Blocked boxes' }).waitFor();
  equal(await row(page, box).count(), 0, 'rows of a blocked box');
  none(await faults(page, witness), 'a blocked box');
  await page.getByRole('button', { name: /^Unblock/ }).click();
  await row(page, box).getByRole('button', { name: 'Approve' }).waitFor();
});

test('cluster: an address where nobody listens is named, with what to do', async (world) => {
  const { page, witness } = await world.inside('/peers');
  witness.expecting(/status of 422/);
  const nobody = `127.0.0.1:${await freePort()}`;
  await page.getByLabel('Address of the box').fill(nobody);
  await page.getByRole('button', { name: 'Look there' }).click();
  const told = await page.getByRole('alert').innerText();
  check(told.length > 40, `the refusal says only “${told}”`);
  none(await faults(page, witness), 'nobody there');
  await page.getByRole('link', { name: 'Have the doctor look' }).click();
  await page.getByRole('heading', { level: 1, name: 'Network doctor' }).waitFor();
  equal(await page.getByLabel('Address', { exact: true }).inputValue(), nobody, 'the address that came along');
  // The blocked port, by name, with its remedy.
  await page.locator('[data-check=reach]').getByText('Trouble').waitFor();
  await page.locator('[data-check=reach]').getByText('What to do:').waitFor();
  await world.picture(page, 'doctor-blocked');
  none(await faults(page, witness), 'the doctor about a blocked port');
});

test(
  'cluster: a second node is approved by the digits on its screen; wrong ones are counted',
  needed(async (world) => {
    const [box] = world.boxes;
    const { page, witness } = await world.inside('/peers');
    witness.expecting(/status of 422/);
    const own = await ownPage(world, box);
    await askToJoin(world, page, box);
    await world.picture(page, 'approve-code');
    none(await faults(page, witness), 'waiting for the code');
    const digits = await digitsOn(own);
    check(/^\d{3} \d{3}$/.test(digits), `the box shows “${digits}”`);
    await typeDigits(page, digits.startsWith('111') ? '222222' : '111111');
    await page.getByText('These are not the digits').waitFor();
    await page.getByText('2 tries left').waitFor();
    await typeDigits(page, digits);
    await page.getByText('is part of the cluster').waitFor();
    await page.getByRole('link', { name: 'See the nodes' }).click();
    await nodeRows(page).nth(1).getByText('Up').waitFor();
    await page.getByText('With two nodes neither may fail').waitFor();
    await own.getByRole('heading', { level: 1, name: 'Log in' }).waitFor();
  }),
);

test(
  'cluster: a third node makes it safe to lose one',
  needed(async (world) => {
    const box = await world.box();
    const own = await ownPage(world, box);
    const { page } = await world.inside('/peers');
    await row(page, box).getByText('Waits to be added').waitFor();
    await askToJoin(world, page, box);
    await typeDigits(page, (await digitsOn(own)).replace(' ', ''));
    await page.getByText('is part of the cluster').waitFor();
    await page.goto(world.daemon.url);
    await page.getByText('3 of 3 nodes up; any 1 may fail').waitFor();
    await page.goto(`${world.daemon.url}/nodes`);
    for (let n = 0; n < 3; n += 1) await nodeRows(page).nth(n).getByText('Up', { exact: true }).waitFor();
    equal(await nodeRows(page).getByText('Leader').count(), 1, 'leaders');
  }),
);

const pages = [
  ['nodes', '/nodes', (page) => page.locator('canvas').first()],
  ['overview', '/', (page) => page.getByText(/nodes up/)],
  ['peers', '/peers', (page) => page.getByText('Add by address')],
  ['doctor', '/doctor', (page) => page.getByRole('table', { name: 'Links between the nodes' }).getByText('Up').first()],
];

for (const theme of themes) {
  for (const width of [...widths, 320]) {
    test(`cluster: the pages of three nodes are clean, ${theme} ${width}`, async (world) => {
      const { page, witness } = await world.open({ theme, width, storageState: world.state });
      const found = [];
      for (const [name, path, mark] of pages) {
        await page.goto(world.daemon.url + path);
        await mark(page).waitFor();
        await page.locator('[data-live=live]').waitFor();
        await world.picture(page, `cluster-${name}-${theme}-${width}`);
        found.push(...(await faults(page, witness)).map((fault) => `${name}: ${fault}`));
      }
      none(found, `${theme} ${width}`);
    });
  }
}

test('cluster: charts have a line per node, and show those that are chosen', async (world) => {
  const { page } = await world.inside('/nodes');
  const figure = page.getByRole('figure', { name: 'Memory' });
  await figure.locator('canvas').waitFor();
  equal(await figure.getByRole('listitem').count(), 3, 'lines of all nodes');
  const choice = page.getByRole('group', { name: 'Nodes shown' });
  await choice.getByRole('button').nth(1).click();
  await page.getByRole('figure', { name: 'Network' }).waitFor();
  check(page.url().includes('nodes='), 'the choice is not in the address');
  await choice.getByRole('button', { name: 'All nodes' }).click();
  await page.getByRole('figure', { name: 'Sent to the network' }).waitFor();
});

test('cluster: a link can be measured from the matrix', async (world) => {
  const { page, witness } = await world.inside('/doctor');
  const table = page.getByRole('table', { name: 'Links between the nodes' });
  await table.getByRole('button', { name: /^Test the link/ }).first().click();
  await table.getByText('at most').first().waitFor();
  none(witness.take(), 'measuring a link');
});

test('cluster: any node serves the pages, and says which one it is', async (world) => {
  const [box] = world.boxes;
  const { page, witness } = await world.open({ box });
  await page.goto(`${box.url}/nodes`);
  await page.getByLabel('User name').fill(world.admin.username);
  await page.getByLabel('Password', { exact: true }).fill(world.admin.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await nodeRows(page).nth(2).waitFor();
  await page.getByText('serves this page').waitFor();
  equal(await page.getByText('serves this page').count(), 1, 'nodes that serve this page');
  none(witness.take(), 'another node');
});
