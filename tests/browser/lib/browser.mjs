// Chromium with witnesses: every page reports console errors, broken policy and requests that leave the box.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

// The browser tools are locked with the site's own packages.
const require = createRequire(new URL('../../../webui/package.json', import.meta.url));
const { chromium } = require('playwright-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const waitMs = 90_000;
export const themes = ['light', 'dark'];
export const widths = [1280, 390];
const heights = { 1280: 800, 390: 844, 320: 640 };
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

export async function launch() {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path));
  if (!executablePath) throw new Error('Chromium is missing: apt install chromium');
  const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  return chromium.launch({ executablePath, headless: true, args: quiet });
}

// What went wrong in the pages of one context. A test that provokes a refusal says so with `expecting`.
export class Witness {
  #problems = [];
  #expected = [];

  constructor(origin) {
    this.origin = origin;
  }
  expecting(...patterns) {
    this.#expected.push(...patterns);
  }
  add(problem) {
    if (!this.#expected.some((pattern) => pattern.test(problem))) this.#problems.push(problem);
  }
  take() {
    const found = this.#problems;
    this.#problems = [];
    return found;
  }
}

export async function open(browser, origin, { theme = 'light', width = 1280, storageState, storage = {} } = {}) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width, height: heights[width] ?? 800 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
    storageState,
    acceptDownloads: true,
  });
  context.setDefaultTimeout(waitMs);
  const witness = new Witness(origin);
  await context.exposeBinding('samovarViolation', (_, text) => witness.add(`policy: ${text}`));
  await context.addInitScript((entries) => {
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.samovarViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
    try {
      for (const [name, value] of Object.entries(entries)) localStorage.setItem(name, value);
    } catch {
      // An empty first page has no storage.
    }
  }, storage);
  context.on('page', (page) => {
    page.on('console', (message) => {
      if (message.type() === 'error') witness.add(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => witness.add(`page error: ${error.stack ?? error}`));
    page.on('request', (request) => {
      const target = request.url();
      if (!target.startsWith(`${witness.origin}/`) && !/^(blob|data|about):/.test(target)) witness.add(`left the box: ${target}`);
    });
  });
  return { context, page: await context.newPage(), witness };
}

// Everything a screen must fulfil. Returns what it does not.
export async function faults(page, witness) {
  const found = witness.take();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (overflow > 0) found.push(`overflow: ${overflow} px sideways`);
  await page.evaluate(axeSource);
  const result = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly }), rules);
  for (const violation of result.violations) {
    const where = violation.nodes.slice(0, 3).map((node) => `${node.target.join(' ')} (${node.any[0]?.message ?? violation.help})`);
    found.push(`axe ${violation.id}: ${where.join('; ')}`);
  }
  found.push(...(await page.evaluate(smallTargets)));
  return found;
}

// Runs in the page. WCAG 2.5.8: a target of 24 px, unless it is a link in a sentence.
function smallTargets() {
  const found = [];
  for (const element of document.querySelectorAll('button, a[href], input, select, summary')) {
    const box = element.getBoundingClientRect();
    if (box.width === 0 || getComputedStyle(element).visibility === 'hidden' || element.closest('.visually-hidden')) continue;
    const inText = element.matches('a') && element.closest('p, th, td, [class]')?.textContent !== element.textContent;
    const labelled = element.matches('input[type=radio], input[type=checkbox]');
    if (box.height < 23.5 && !inText && !labelled && !element.closest('th')) found.push(`target of ${Math.round(box.height)} px: ${element.outerHTML.slice(0, 120)}`);
  }
  return found;
}

export async function picture(page, directory, name) {
  if (!directory) return;
  mkdirSync(directory, { recursive: true });
  await page.screenshot({ path: join(directory, `${name}.png`), fullPage: true });
}

// Resolves after `count` live samples have reached this tab.
export async function ticks(page, count) {
  await page.evaluate(
    (wanted) =>
      new Promise((resolve) => {
        const channel = new BroadcastChannel('samovar.events');
        let seen = 0;
        channel.addEventListener('message', (event) => {
          if (event.data.kind !== 'node.sample') return;
          seen += 1;
          if (seen < wanted) return;
          channel.close();
          resolve();
        });
      }),
    count,
  );
}
