/**
 * Runs the suites and closes with the plain line `N passed, N failed`; shortly before it stand the failed tests. Runs under
 * Node 24, after the set-up. `--only lint,go,python,unit,integration,e2e,long` runs a part; without it all but the long one.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LONG_SUITES, SUITES, stopSuites } from './test-suites.mjs';
import { add, newOutcome, summaryOf } from './test-summary.mjs';

const only = process.argv.includes('--only')
  ? (process.argv[process.argv.indexOf('--only') + 1] ?? '').split(',')
  : Object.keys(SUITES).filter((name) => !LONG_SUITES.includes(name));
const unknown = only.filter((name) => !Object.hasOwn(SUITES, name));
if (unknown.length > 0) {
  console.error(
    `--only: expected some of ${Object.keys(SUITES).join(',')}, got ${unknown.join(',') || 'nothing'}`,
  );
  process.exit(2);
}

/**
 * Temporary files of this run alone, so that leftovers of other programs are not taken for its own. The name is short: the
 * paths of browsers' sockets below it have at most 107 bytes (unix(7)).
 */
const scratch = mkdtempSync(join(tmpdir(), 'hopwise-'));
// Some tests become another user, with a folder in it.
chmodSync(scratch, 0o711);
process.env.TMPDIR = scratch;
// The tests start our programs hundreds of times: with a cache Node compiles each module once.
process.env.NODE_COMPILE_CACHE = join(scratch, 'compiled');

function end(code) {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => stopSuites(signal, () => end(130)));
}

/** Temporary folders of hopwise and of the tests' browsers: to leave one behind is a failure. */
function leftovers() {
  return readdirSync(scratch).filter((name) =>
    /^(hopwise-|hw-|playwright[-_](artifacts|chromiumdev))/.test(name),
  );
}

const total = newOutcome();
for (const [name, suite] of Object.entries(SUITES)) {
  if (!only.includes(name)) continue;
  const started = Date.now();
  console.log(`\n# ${name}`);
  const outcome = await suite({ scratch });
  add(total, outcome);
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  console.log(`# ${name}: ${outcome.passed} passed, ${outcome.failed} failed, ${seconds} s`);
}
const left = leftovers();
if (left.length > 0) console.log(`left behind in ${tmpdir()}: ${left.join(', ')}`);
if (left.length === 0) total.passed += 1;
// A test that fails may not reach its clean-up.
else if (total.failed > 0) total.skipped += 1;
else {
  total.failed += 1;
  total.failures.push({ where: 'npm test', what: 'leaves no temporary folder behind', why: left.join(', ') });
}
for (const line of summaryOf(total)) console.log(line);
end(total.failed === 0 ? 0 : 1);
