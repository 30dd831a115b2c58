// Browser tests of the dashboard against a real daemon.
//
//   node tests/browser/run.mjs --samovard build/debug/samovard [--screenshots dir] [--only words]
//
// Needs Debian's chromium and `npm ci` in webui/. The daemon must have been built with webui/dist in place.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { launch, open, picture } from './lib/browser.mjs';
import { Daemon, freePort } from './lib/daemon.mjs';
import { runAll } from './lib/harness.mjs';
import './suites/wizard.mjs';
import './suites/locked.mjs';
import './suites/login.mjs';
import './suites/live.mjs';
import './suites/tabs.mjs';
import './suites/people.mjs';
import './suites/power.mjs';
import './suites/session.mjs';
import './suites/data_upload.mjs';
import './suites/data.mjs';
import './suites/models.mjs';
import './suites/screens.mjs';
import './suites/connection.mjs';
// Last: it makes a cluster of the box, which then no longer works alone.
import './suites/cluster.mjs';
import './suites/cluster_loss.mjs';

const { values } = parseArgs({
  options: { samovard: { type: 'string' }, screenshots: { type: 'string' }, only: { type: 'string' } },
});
if (!values.samovard) {
  console.error('usage: node tests/browser/run.mjs --samovard PATH [--screenshots DIR] [--only WORDS]');
  process.exit(2);
}

class World {
  admin = { username: 'ada', displayName: 'Ada Lovelace', password: 'seven brass kettles sing' };
  passphrase = 'many small blue boats';
  boxName = 'Ward 4, room 12';
  state = undefined; // cookies of the logged-in administrator
  boxes = []; // that joined, in the order they did
  #contexts = [];

  constructor(daemon, browser) {
    this.daemon = daemon;
    this.browser = browser;
  }
  // Another box on the same network, which belongs to nobody yet.
  async box() {
    const made = new Daemon(this.daemon.binary, this.daemon.discoveryPort);
    this.boxes.push(made);
    await made.start();
    return made;
  }
  // With `line`, the pages reach the box only through it.
  async open({ line, box = this.daemon, ...options } = {}) {
    const opened = await open(this.browser, line?.url ?? box.url, options);
    this.#contexts.push(opened.context);
    return opened;
  }
  // A page of the logged-in administrator.
  async inside(path, options = {}) {
    // The line is another origin: what the browser keeps for the box does not count there, its cookie does.
    const opened = await this.open({ storageState: this.state, ...(options.line && { storage: { 'samovar.session': 'yes' } }), ...options });
    await opened.page.goto((options.line?.url ?? this.daemon.url) + path);
    await opened.page.locator('h1').waitFor();
    return opened;
  }
  // The same with the password confirmed just now, as changes to people need it.
  async confirmed(path, options = {}) {
    const opened = await this.inside(path, options);
    await opened.page.evaluate(async (password) => {
      const session = await (await fetch('/api/v1/session')).json();
      const headers = { 'Content-Type': 'application/json', 'X-CSRF': session.csrf };
      const ask = () => fetch('/api/v1/session:reauth', { method: 'POST', headers, body: JSON.stringify({ password }) });
      let answer = await ask();
      // A cluster that just got its majority back may still be choosing who leads.
      for (let left = 40; answer.status === 503 && left > 0; left--) {
        await new Promise((done) => setTimeout(done, 500));
        answer = await ask();
      }
      if (!answer.ok) throw new Error(`the password was not confirmed: ${answer.status}`);
    }, this.admin.password);
    return opened;
  }
  // After a restart somebody types the passphrase.
  async unlock(box = this.daemon) {
    const { context } = await this.open({ box });
    const answer = await context.request.post(`${box.url}/api/v1/unlock`, { data: { passphrase: this.passphrase } });
    if (!answer.ok()) throw new Error(`the box was not unlocked: ${answer.status()}`);
  }
  picture(page, name) {
    return picture(page, values.screenshots, name);
  }
  // What every open page shows, for somebody who wonders why a test failed.
  async pictureAll(name) {
    const pages = this.#contexts.flatMap((context) => context.pages());
    for (const [n, page] of pages.entries()) await this.picture(page, `${name}-${n}`).catch(() => undefined);
  }
  async closePages() {
    for (const context of this.#contexts.splice(0)) await context.close().catch(() => undefined);
  }
}

const daemon = new Daemon(resolve(values.samovard), await freePort());
let result = { passed: 0, failed: 1 };
let browser;
let world;
try {
  await daemon.start();
  browser = await launch();
  world = new World(daemon, browser);
  result = await runAll(world, values.only);
} catch (error) {
  console.error(error?.stack ?? error);
} finally {
  await browser?.close().catch(() => undefined);
  await daemon.dispose();
  for (const box of world?.boxes ?? []) await box.dispose();
}
for (const box of result.failed > 0 ? [daemon, ...(world?.boxes ?? [])] : []) console.log(`--- samovard at ${box.url} said:\n${box.output.split('\n').slice(-40).join('\n')}`);
console.log(`${result.passed} passed, ${result.failed} failed`);
process.exit(result.failed > 0 ? 1 : 0);
