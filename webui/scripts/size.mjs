// Fails the build when a first route sends more than 60 kB of compressed JavaScript: that is what a person waits for.
// All screens together may have 200 kB, which nobody loads at once; from 180 kB on there is a warning.
// What a route sends: the entry, the route's own chunk, and everything those import statically.
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const routeLimit = 60_000;
const totalWarning = 180_000;
const totalLimit = 200_000;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const manifest = JSON.parse(readFileSync(join(root, '.build', 'manifest.json'), 'utf8'));
// A page that always draws charts pays for the chart library too, although it arrives a moment later.
const also = { 'src/routes/nodes/NodePage.tsx': ['src/ui/plot.ts'], 'src/routes/nodes/NodesPage.tsx': ['src/ui/plot.ts'] };
const gz = (file) => statSync(join(root, 'dist', `${file}.gz`)).size;

function closure(key, seen = new Set()) {
  if (seen.has(key)) return seen;
  seen.add(key);
  for (const next of manifest[key].imports ?? []) closure(next, seen);
  return seen;
}

const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
const base = closure(entry);
const theme = gz('theme.js');
const sum = (keys) => [...keys].reduce((bytes, key) => bytes + gz(manifest[key].file), theme);
const rows = [['entry', sum(base)]];
// Routes that share one file appear under its name.
const routes = new Set(Object.values(manifest).flatMap((item) => item.dynamicImports ?? []));
for (const key of [...routes].filter((name) => /^(src\/routes\/|_)/.test(name)).sort()) {
  const keys = closure(key, new Set(base));
  for (const lazy of also[key] ?? []) closure(lazy, keys);
  rows.push([manifest[key].src?.replace('src/routes/', '') ?? manifest[key].name, sum(keys)]);
}
const total = Object.values(manifest)
  .filter((item) => item.file.endsWith('.js'))
  .reduce((bytes, item) => bytes + gz(item.file), theme);

let failed = false;
for (const [name, bytes] of rows) {
  const over = bytes > routeLimit;
  failed ||= over;
  console.log(`${over ? 'OVER ' : 'ok   '}${(bytes / 1000).toFixed(1).padStart(6)} kB gz  ${name}`);
}
failed ||= total > totalLimit;
console.log(`${total > totalLimit ? 'OVER ' : total > totalWarning ? 'much ' : 'ok   '}${(total / 1000).toFixed(1).padStart(6)} kB gz  all JavaScript together`);
if (failed) {
  console.error(`A route may send ${routeLimit} bytes of compressed JavaScript, all of them ${totalLimit}.`);
  process.exit(1);
}
