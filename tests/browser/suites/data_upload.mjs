// Files on their way to the box: dropped, cut off by everything that can happen, and there in the end, byte for byte.
import { createHash } from 'node:crypto';
import { faults } from '../lib/browser.mjs';
import { drop, stays } from '../lib/files.mjs';
import { check, equal, none, test } from '../lib/harness.mjs';
import { Line } from '../lib/line.mjs';

const slow = 400_000; // bytes per second: a file takes far longer than the test needs to meet it half-way
const card = (page, state) => page.locator(`[data-transfer=${state}]`);

// Text of the card "12.3 MiB of 40 MiB", as a number of the first unit.
async function sentBytes(page) {
  const text = await page.locator('[data-transfer]').innerText();
  const found = /([\d.,]+)\s(B|KiB|MiB) of/.exec(text);
  return found ? Number(found[1].replaceAll(',', '')) * { B: 1, KiB: 1024, MiB: 1024 ** 2 }[found[2]] : 0;
}
async function sentPast(page, bytes) {
  for (;;) {
    if ((await sentBytes(page)) > bytes) return;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }
}
async function discard(page) {
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.locator('[data-transfer]').waitFor({ state: 'detached' });
}

// A page behind a slow line, which goes when the test does.
function behindLine(work) {
  return async (world) => {
    const line = await Line.open(() => world.daemon.url);
    line.slow(slow);
    try {
      await work(world, line, await world.inside('/datasets', { line }));
    } finally {
      line.close();
      await clear(world);
    }
  };
}

// Leaves no upload to the next test, also when this one failed.
async function clear(world) {
  const { page } = await world.inside('/datasets');
  await page.evaluate(async () => {
    const { csrf } = await (await fetch('/api/v1/session')).json();
    const { items } = await (await fetch('/api/v1/uploads')).json();
    for (const { id } of items) await fetch(`/api/v1/uploads/${id}`, { method: 'DELETE', headers: { 'X-CSRF': csrf, 'Tus-Resumable': '1.0.0' } });
  });
}

test('upload: without data the page offers a sample and says what can be read', async (world) => {
  const { page, witness } = await world.inside('/datasets');
  await page.getByText('No data sets yet').waitFor();
  await page.getByText('Parquet').waitFor();
  await page.getByRole('button', { name: 'Load sample data' }).waitFor();
  none(await faults(page, witness), 'empty page');
});

test('upload: an upload outlives the network, the box and the page', behindLine(async (world, line, { page, witness }) => {
  witness.expecting(/Failed to load resource/);
  const text = stays(20_000);
  const repeat = 40;
  const head = text.slice(0, text.indexOf('\n') + 1);
  const hash = createHash('sha256').update(head);
  for (let i = 0; i < repeat; i += 1) hash.update(text.slice(head.length));
  const file = [{ name: 'stays.csv', text, repeat }];

  await drop(page, file);
  await card(page, 'sending').waitFor();
  await sentPast(page, 1_000_000);
  await page.getByText(/[KM]iB\/s/).waitFor();
  none(await faults(page, witness), 'sending');
  await world.picture(page, 'data-sending');

  line.cut();
  await card(page, 'waiting').waitFor();
  line.mend();
  await card(page, 'sending').waitFor();

  await world.daemon.crash();
  await card(page, 'waiting').waitFor();
  await world.unlock();
  await card(page, 'sending').waitFor();
  const before = await sentBytes(page);
  check(before > 500_000, `the box has kept only ${before} bytes`);

  await page.getByRole('button', { name: 'Pause stays.csv' }).click();
  await card(page, 'paused').waitFor();
  await page.getByRole('button', { name: 'Resume stays.csv' }).click();
  await card(page, 'sending').waitFor();
  await sentPast(page, before);

  let warned = false;
  page.once('dialog', (dialog) => {
    warned = dialog.type() === 'beforeunload';
    void dialog.accept();
  });
  await page.reload();
  check(warned, 'nobody was warned of leaving while bytes move');
  await card(page, 'file').waitFor();
  check((await sentBytes(page)) > 500_000, 'the box has forgotten what arrived');
  await page.getByRole('button', { name: /^Tasks/ }).click();
  await page.getByRole('link', { name: 'stays.csv' }).waitFor();
  none(await faults(page, witness), 'unfinished, with the tray');
  await page.keyboard.press('Escape');

  line.full();
  await drop(page, file);
  await card(page, 'sent').waitFor();
  equal(await page.locator('[data-transfer]').count(), 1, 'cards of one file');
  await page.getByText('SHA-256 of the file').click();
  await page.getByText(hash.digest('hex')).waitFor();
  await discard(page);
}));

test('upload: the end of the session does not end the upload', behindLine(async (world, line, { context, page, witness }) => {
  witness.expecting(/Failed to load resource/);
  await drop(page, [{ name: 'long.csv', text: stays(20_000), repeat: 20 }]);
  await sentPast(page, 500_000);
  await page.getByRole('button', { name: 'Pause long.csv' }).click();
  await context.clearCookies();
  await page.getByRole('button', { name: 'Resume long.csv' }).click();
  const dialog = page.getByRole('dialog', { name: 'Log in again' });
  await dialog.getByLabel('Password', { exact: true }).fill(world.admin.password);
  line.full();
  await page.keyboard.press('Enter');
  await card(page, 'sent').waitFor();
  await discard(page);
}));

test('upload: the file chosen again must be the same one', behindLine(async (world, line, { page }) => {
  const text = stays(20_000);
  await drop(page, [{ name: 'again.csv', text, repeat: 20 }]);
  await sentPast(page, 300_000);
  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await card(page, 'file').waitFor();
  line.full();
  const choose = async (name, content) => {
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Choose the file again: again.csv' }).click();
    await (await chooser).setFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
  };
  await choose('again.csv', 'short');
  await page.getByText('That is another file').waitFor();
  const head = text.slice(0, text.indexOf('\n') + 1);
  await choose('again.csv', head + text.slice(head.length).repeat(20));
  await card(page, 'sent').waitFor();
  await discard(page);
}));
