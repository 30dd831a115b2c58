// Makes the .gz twins of the built files and takes the build manifest out of what is served.
// Deterministic: zlib writes no name and a zero time, and the files are walked in sorted order.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const worthIt = /\.(html|js|css|svg|json|txt)$/;

mkdirSync(join(root, '.build'), { recursive: true });
renameSync(join(dist, '.vite', 'manifest.json'), join(root, '.build', 'manifest.json'));
rmSync(join(dist, '.vite'), { recursive: true });

function* walk(dir) {
  for (const name of readdirSync(dir).sort()) {
    const path = join(dir, name);
    if (statSync(path).isDirectory()) yield* walk(path);
    else yield path;
  }
}

let count = 0;
for (const path of walk(dist)) {
  if (!worthIt.test(path)) continue;
  const packed = gzipSync(readFileSync(path), { level: 9 });
  packed[9] = 255; // "unknown" operating system, so that every build machine writes the same byte
  writeFileSync(`${path}.gz`, packed);
  count += 1;
}
console.log(`compressed ${count} files`);
