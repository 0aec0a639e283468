/**
 * Runs every suite and closes with the plain line `N passed, N failed`; shortly before it stand the
 * failed tests, and how many passed at their second try only. Runs under Node 24, after the set-up.
 * `--only lint,go,unit,integration,e2e` runs a part.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SUITES, stopSuites } from './test-suites.mjs';
import { add, newOutcome, summaryOf } from './test-summary.mjs';

const only = process.argv.includes('--only')
  ? (process.argv[process.argv.indexOf('--only') + 1] ?? '').split(',')
  : null;
const unknown = only?.filter((name) => !Object.hasOwn(SUITES, name)) ?? [];
if (unknown.length > 0) {
  console.error(
    `--only: expected some of ${Object.keys(SUITES).join(',')}, got ${unknown.join(',') || 'nothing'}`,
  );
  process.exit(2);
}

/**
 * Temporary files of this run alone: what others on this machine leave is not taken for its own. The name is short, for
 * the sockets of browsers lie deep in it and have room for 107 bytes (unix(7)).
 */
const scratch = mkdtempSync(join(tmpdir(), 'hopwise-'));
// Some tests become another user, who has a folder of his own in it.
chmodSync(scratch, 0o711);
process.env.TMPDIR = scratch;
// Programs of ours are started some hundreds of times: Node compiles each module for the first alone.
process.env.NODE_COMPILE_CACHE = join(scratch, 'compiled');

function end(code) {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => stopSuites(signal, () => end(130)));
}

/** Temporary folders of ours and of our browsers: a test that leaves one behind is a failure. */
function leftovers() {
  return readdirSync(scratch).filter((name) =>
    /^(hopwise-|hw-|playwright[-_](artifacts|chromiumdev))/.test(name),
  );
}

const total = newOutcome();
for (const [name, suite] of Object.entries(SUITES)) {
  if (only && !only.includes(name)) continue;
  const started = Date.now();
  console.log(`\n# ${name}`);
  const outcome = await suite({ scratch });
  add(total, outcome);
  const seconds = ((Date.now() - started) / 1000).toFixed(0);
  console.log(`# ${name}: ${outcome.passed} passed, ${outcome.failed} failed, ${seconds} s`);
}
const left = leftovers();
const isTroubled = total.failures.length + total.secondTries.length > 0;
if (left.length > 0) console.log(`left behind in ${tmpdir()}: ${left.join(', ')}`);
if (left.length === 0) total.passed += 1;
// A test that fails may not come to its cleaning up.
else if (isTroubled) total.skipped += 1;
else {
  total.failed += 1;
  total.failures.push({ where: 'npm test', what: 'leaves no temporary folder behind', why: left.join(', ') });
}
for (const line of summaryOf(total)) console.log(line);
end(total.failed === 0 ? 0 : 1);
