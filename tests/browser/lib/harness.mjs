// A small runner: tests in order, each with its name, a time limit and a line of result.
const tests = [];
// Far above what any test needs: a busy machine is no failure, a page that hangs is.
const limitMs = 900_000;

export function test(name, work) {
  tests.push({ name, work });
}

export function check(condition, message) {
  if (!condition) throw new Error(message);
}

export function equal(actual, expected, what) {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, got ${a}`);
}

export function none(found, what) {
  if (found.length > 0) throw new Error(`${what}:\n    ${found.join('\n    ')}`);
}

function within(promise, name) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} took longer than ${limitMs / 1000} s`)), limitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// `needed` tests build the world for the rest: when one fails, going on would only hide why.
export async function runAll(world, only) {
  let passed = 0;
  let failed = 0;
  for (const { name, work } of tests) {
    if (only && !work.needed && !name.includes(only)) continue;
    const begin = Date.now();
    try {
      await within(work(world), name);
      passed += 1;
      console.log(`ok   ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`FAIL ${name}\n    ${error?.stack ?? error}`);
      await world.pictureAll(`FAIL-${failed}`);
      if (work.needed) break;
    } finally {
      await world.closePages();
    }
  }
  return { passed, failed };
}

export function needed(work) {
  work.needed = true;
  return work;
}
