// Every page in both themes and widths; then at 320 px, and in a language that is longer than English.
import { faults, themes, widths } from '../lib/browser.mjs';
import { check, none, test } from '../lib/harness.mjs';

const pages = [
  ['overview', '/', (page) => page.getByRole('heading', { level: 2, name: 'Alerts' })],
  ['nodes', '/nodes', (page) => page.locator('tbody a').first()],
  ['power', '/power', (page) => page.getByLabel('Watts of all nodes together')],
  ['peers', '/peers', (page) => page.getByText('Add by address')],
  ['doctor', '/doctor', (page) => page.getByRole('table', { name: 'Network interfaces' })],
  ['datasets', '/datasets', (page) => page.locator('tbody a').first()],
  ['bin', '/datasets?bin=1', (page) => page.getByText('The bin is empty').or(page.locator('tbody th')).first()],
  ['jobs', '/jobs', (page) => page.locator('tbody a').first()],
  ['job-new', '/jobs/new', (page) => page.getByLabel('Predict', { exact: true })],
  ['models', '/models', (page) => page.locator('tbody a').first()],
  ['users', '/users', (page) => page.locator('tbody th').first()],
  ['tokens', '/tokens', (page) => page.locator('main button').first()],
  ['sessions', '/sessions', (page) => page.locator('tbody th').first()],
  ['audit', '/audit', (page) => page.locator('tbody th').first()],
  ['settings', '/settings', (page) => page.locator('dl code').first()],
  ['account', '/account', (page) => page.locator('dl').first()],
  ['missing', '/no/such/page', (page) => page.getByText('There is no such page')],
];

async function firstAddress(world, list) {
  const { context, page } = await world.inside(list);
  const address = await page.locator('tbody a').first().getAttribute('href');
  await context.close();
  return address;
}

// Pages of one thing: their addresses are known only once it is there.
async function detailPages(world) {
  const node = await firstAddress(world, '/nodes');
  const set = await firstAddress(world, '/datasets?sort=-rows');
  const job = await firstAddress(world, '/jobs?sort=created');
  const model = await firstAddress(world, '/models?sort=-version');
  return [
    ['job', job, (page) => page.locator('canvas').first()],
    ['job-form', `/jobs/new?dataset=${set.split('/').at(-1)}&target=age`, (page) => page.getByRole('button', { name: 'Start training' })],
    ['model', model, (page) => page.locator('main table').first()],
    ['model-inputs', `${model}?tab=inputs`, (page) => page.locator('main figure').first()],
    ['model-versions', `${model}?tab=versions`, (page) => page.locator('main tbody th').first()],
    ['model-card', `${model}?tab=card`, (page) => page.locator('main figure').first()],
    ['model-use', `${model}/use`, (page) => page.getByRole('button', { name: 'Predict', exact: true })],
    ['node', node, (page) => page.locator('canvas').first()],
    ['dataset', set, (page) => page.locator('main svg[role=img]').first()],
    ['dataset-target', `${set}?target=age`, (page) => page.locator('main svg[role=img]').first()],
    ['dataset-rows', `${set}?tab=rows`, (page) => page.locator('main td').first()],
    ['dataset-shards', `${set}?tab=shards`, (page) => page.locator('main tbody th').first()],
    ['dataset-access', `${set}?tab=access`, (page) => page.locator('main form').first()],
  ];
}

for (const theme of themes) {
  for (const width of widths) {
    test(`screens: every page is clean, ${theme} ${width}`, async (world) => {
      const details = await detailPages(world);
      const { page, witness } = await world.open({ theme, width, storageState: world.state });
      const found = [];
      for (const [name, path, mark] of [...pages, ...details]) {
        await page.goto(world.daemon.url + path);
        await mark(page).waitFor();
        await page.locator('[data-live=live]').waitFor();
        await world.picture(page, `${name}-${theme}-${width}`);
        found.push(...(await faults(page, witness)).map((fault) => `${name}: ${fault}`));
      }
      none(found, `${theme} ${width}`);
    });
  }
}

test('screens: the menus are clean and the theme can be chosen', async (world) => {
  const { page, witness } = await world.inside('/', { width: 390 });
  await page.getByRole('button', { name: 'Menu' }).click();
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Nodes' }).waitFor();
  none(await faults(page, witness), 'navigation');
  await page.getByRole('button', { name: /Signed in as/ }).click();
  await page.getByRole('radio', { name: 'Dark' }).check();
  await page.locator('html[data-theme=dark]').waitFor();
  none(await faults(page, witness), 'menu of the person');
  await page.reload();
  await page.locator('html[data-theme=dark]').waitFor();
});

const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test('screens: nothing runs off the side at 320 px', async (world) => {
  const details = await detailPages(world);
  const { page } = await world.open({ width: 320, storageState: world.state });
  const found = [];
  for (const [name, path, mark] of [...pages, ...details]) {
    await page.goto(world.daemon.url + path);
    await mark(page).waitFor();
    const overflow = await sideways(page);
    if (overflow > 0) found.push(`${name}: ${overflow} px`);
  }
  none(found, 'overflow');
});

// Runs in the page: texts of the frame that did not come from the message file.
function untranslated() {
  const texts = [...document.querySelectorAll('button, label, legend, summary, h2, h3, thead th, dt, nav a')]
    .filter((one) => !one.closest('[translate=no]') && !one.querySelector('[translate=no]')) // names of people and things stay as they are
    .map((one) => one.textContent.trim());
  return texts.filter((text) => /[A-Za-z]{3}/.test(text) && !text.includes('['));
}

test('screens: a longer language fits, and no text is typed into a page', async (world) => {
  const found = [];
  const details = await detailPages(world);
  for (const width of widths) {
    const { page } = await world.open({ width, storageState: world.state, storage: { 'samovar.locale': 'pseudo' } });
    for (const [name, path] of [...pages, ...details.filter(([kind]) => kind !== 'node')]) {
      await page.goto(world.daemon.url + path);
      await page.locator('h1').waitFor();
      await page.locator('[data-live=live]').waitFor();
      const overflow = await sideways(page);
      if (overflow > 0) found.push(`${name} ${width}: ${overflow} px`);
      if (width === widths[0]) found.push(...(await page.evaluate(untranslated)).map((text) => `${name}: “${text}”`));
      if (name === 'overview') await world.picture(page, `pseudo-${width}`);
    }
  }
  none(found, 'pseudo-locale');
});

test('screens: what the box sends is under the strict policy', async (world) => {
  const { page } = await world.open();
  const answer = await page.goto(world.daemon.url);
  const policy = answer.headers()['content-security-policy'] ?? '';
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"]) {
    check(policy.includes(part), `the policy lacks ${part}`);
  }
  check(!policy.includes('unsafe'), 'the policy has an exception');
});
