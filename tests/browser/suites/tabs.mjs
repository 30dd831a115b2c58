// One event stream per browser, however many tabs; the next tab takes over when the leader closes.
import { waitMs } from '../lib/browser.mjs';
import { check, equal, test } from '../lib/harness.mjs';

const tabCount = 8;

function countStreams(context) {
  const streams = { opened: 0, open: new Set() };
  const isStream = (request) => request.url().includes('/api/v1/events');
  context.on('request', (request) => {
    if (!isStream(request)) return;
    streams.opened += 1;
    streams.open.add(request);
  });
  for (const end of ['requestfinished', 'requestfailed']) context.on(end, (request) => streams.open.delete(request));
  return streams;
}

async function live(page) {
  await page.locator('[data-live=live]').waitFor();
}

test(`tabs: ${tabCount} tabs share one stream and all are live`, async (world) => {
  const { context, page } = await world.open({ storageState: world.state });
  const streams = countStreams(context);
  const tabs = [page];
  while (tabs.length < tabCount) tabs.push(await context.newPage());
  for (const tab of tabs) {
    await tab.goto(`${world.daemon.url}/nodes`);
    await live(tab);
    await tab.locator('tbody a').first().waitFor();
  }
  equal(streams.opened, 1, 'streams opened by all tabs');

  const leader = await findLeader(streams, tabs);
  await leader.close();
  const rest = tabs.filter((tab) => tab !== leader);
  const begin = Date.now();
  while (streams.opened < 2 && Date.now() - begin < waitMs) await rest[0].evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  for (const tab of rest) await live(tab);
  equal(streams.opened, 2, 'streams opened after the leader closed');
  for (const tab of rest.slice(0, 3)) await sees(tab);
});

async function findLeader(streams, tabs) {
  const [request] = streams.open;
  const page = request?.frame().page();
  check(page && tabs.includes(page), 'no tab holds the stream');
  return page;
}

// A new sample reaches the page: the network figure of the table moves on.
async function sees(tab) {
  const before = await tab.locator('tbody').innerText();
  await tab.waitForFunction((old) => document.querySelector('tbody')?.innerText !== old, before);
}
