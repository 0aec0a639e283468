/**
 * Runs every suite and closes with the plain line `N passed, N failed`. Runs under Node 24, after
 * the set-up. `--only lint,go,unit,integration,e2e` runs a part.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './setup.mjs';

const bin = (name) => join(ROOT, 'node_modules', '.bin', name);
let running = null;
let stopping = false;

/** Runs a program; its output goes to this terminal, or line by line to `onLine`. */
function run(file, args, { cwd = ROOT, env = {}, onLine } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', onLine ? 'pipe' : 'inherit', 'inherit'],
    });
    running = child;
    let rest = '';
    child.stdout?.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      lines.forEach(onLine);
    });
    child.on('error', (error) => {
      console.error(`${file}: ${error.message}`);
      resolve(1);
    });
    child.on('close', (code) => {
      running = null;
      if (stopping) end(130);
      if (rest && onLine) onLine(rest);
      resolve(code ?? 1);
    });
  });
}

/** A suite that failed without a failed test (it crashed, or found no test) counts as one failure. */
function tally(code, counts) {
  const ran = counts.passed + counts.failed;
  if (code !== 0 && counts.failed === 0) return { ...counts, failed: 1 };
  if (ran === 0) return { ...counts, failed: 1 };
  return counts;
}

/** Formatter, linter, and the types of the tests (those of the rooms are checked by the build). */
async function lint() {
  const codes = [
    await run(bin('biome'), ['check', '.']),
    await run(bin('tsc'), ['-p', 'tsconfig.tests.json']),
  ];
  const failed = codes.filter((code) => code !== 0).length;
  return { passed: codes.length - failed, failed, skipped: 0 };
}

async function go(folder) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const output = new Map();
  const code = await run('go', ['test', '-json', './...'], {
    cwd: join(ROOT, folder),
    onLine(line) {
      let event;
      try {
        event = JSON.parse(line);
      } catch {
        console.log(line);
        return;
      }
      const key = `${event.Package} ${event.Test ?? ''}`;
      if (event.Action === 'output' || event.Action === 'build-output') {
        output.set(key, (output.get(key) ?? '') + event.Output);
      }
      if (event.Action === 'build-output') process.stdout.write(event.Output);
      if (event.Action === 'fail') process.stdout.write(output.get(key) ?? '');
      if (!event.Test) return;
      if (event.Action === 'pass') counts.passed += 1;
      if (event.Action === 'fail') counts.failed += 1;
      if (event.Action === 'skip') counts.skipped += 1;
    },
  });
  console.log(`go test in ${folder}: ${counts.passed} passed, ${counts.failed} failed`);
  return tally(code, counts);
}

async function vitest(project) {
  const file = join(scratch, `${project}.json`);
  const code = await run(bin('vitest'), [
    'run',
    `--project=${project}`,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ]);
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
  const result = JSON.parse(readFileSync(file, 'utf8'));
  return tally(code, {
    passed: result.numPassedTests,
    failed: result.numFailedTests,
    skipped: result.numPendingTests + result.numTodoTests,
  });
}

async function playwright() {
  const file = join(scratch, 'playwright.json');
  const code = await run(
    bin('playwright'),
    ['test', '--config', join(ROOT, 'e2e/playwright.config.ts'), '--reporter=list,json'],
    { env: { PLAYWRIGHT_JSON_OUTPUT_NAME: file } },
  );
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
  const { stats } = JSON.parse(readFileSync(file, 'utf8'));
  // A flaky test failed once: it counts as failed, or nobody would ever mend it.
  return tally(code, {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    skipped: stats.skipped,
  });
}

const SUITES = {
  lint,
  go: () => go('e2e/lab'),
  unit: () => vitest('unit'),
  integration: () => vitest('integration'),
  e2e: playwright,
};

/** Temporary folders of ours and of our browsers: a test that leaves one behind is a failure. */
function leftovers() {
  return readdirSync(tmpdir()).filter(
    (name) => /^(hopwise-|playwright[-_](artifacts|chromiumdev))/.test(name) && !scratch.endsWith(name),
  );
}

function end(code) {
  rmSync(scratch, { recursive: true, force: true });
  process.exit(code);
}

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

const scratch = mkdtempSync(join(tmpdir(), 'hopwise-test-'));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    stopping = true;
    // What runs cleans up before it ends.
    if (running) running.kill(signal);
    else end(130);
  });
}
const before = new Set(leftovers());
const total = { passed: 0, failed: 0, skipped: 0 };
for (const [name, suite] of Object.entries(SUITES)) {
  if (only && !only.includes(name)) continue;
  const started = Date.now();
  console.log(`\n# ${name}`);
  const counts = await suite();
  for (const key of Object.keys(total)) total[key] += counts[key];
  console.log(
    `# ${name}: ${counts.passed} passed, ${counts.failed} failed, ${((Date.now() - started) / 1000).toFixed(0)} s`,
  );
}
const left = leftovers().filter((name) => !before.has(name));
if (left.length > 0) {
  console.log(`left behind in ${tmpdir()}: ${left.join(', ')}`);
  total.failed += 1;
} else {
  total.passed += 1;
}
rmSync(scratch, { recursive: true, force: true });
console.log(
  `\n${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`,
);
process.exitCode = total.failed === 0 ? 0 : 1;
