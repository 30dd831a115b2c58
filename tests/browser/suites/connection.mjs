// A box that stops answering: the page says so, greys what is old, and comes back by itself.
import { test } from '../lib/harness.mjs';

test('connection: a hanging box is noticed and the page recovers', async (world) => {
  const { page } = await world.inside('/');
  await page.locator('[data-live=live]').waitFor();
  world.daemon.freeze();
  try {
    await page.locator('[data-live=lost]').waitFor();
    await page.getByText(/Connection lost since/).waitFor();
    await page.locator('main [data-stale]').first().waitFor();
  } finally {
    world.daemon.thaw();
  }
  await page.locator('[data-live=live]').waitFor();
  await page.locator('main [data-stale]').first().waitFor({ state: 'detached' });
});
