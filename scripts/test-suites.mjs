/** The suites of `npm test`. Each returns its outcome (scripts/test-summary.mjs) and prints as it goes. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { outcomeOfJunit } from './junit-outcome.ts';
import { ROOT } from './setup-programs.mjs';
import { PYTHON } from './setup-steps.mjs';
import { add, newOutcome } from './test-summary.mjs';

const BIN = join(ROOT, 'node_modules', '.bin');
const bin = (name) => join(BIN, name);
/** With the packages' own Node, under which their programs run. */
const PATH = `${BIN}${delimiter}${process.env.PATH}`;

/** What runs now; null between two programs. */
let running = null;
let stopped = null;

/** Ends what runs as `signal` does, then calls `then`. */
export function stopSuites(signal, then) {
  stopped = then;
  // What runs cleans up before it ends.
  if (running) running.kill(signal);
  else then();
}

/** Runs a program; its output goes to this terminal, or line by line to `onLine`. Returns its exit code. */
function run(file, args, { cwd = ROOT, env = {}, onLine } = {}) {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env: { ...process.env, PATH, ...env },
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
      if (stopped) return stopped();
      if (rest && onLine) onLine(rest);
      resolve(code ?? 1);
    });
  });
}

/** A program that failed without a failed test (it crashed, or found no test) counts as one failure. */
function withCrash(outcome, code, what) {
  if (outcome.failed > 0 || (code === 0 && outcome.passed > 0)) return outcome;
  const why = code === 0 ? 'it found no test' : `it ended with code ${code}, and no test failed`;
  return add(outcome, { ...newOutcome(), failed: 1, failures: [{ where: '', what, why }] });
}

/** Formatter, linter, imports between packages and folders, and types of the tests (the build checks the products'). */
async function lint() {
  const outcome = newOutcome();
  for (const [name, ...args] of [
    ['biome', 'check', '.'],
    ['depcruise', '*/{src,bin}'],
    ['tsc', '-p', 'tsconfig.tests.json'],
  ]) {
    const code = await run(bin(name), args);
    if (code === 0) outcome.passed += 1;
    else {
      const why = `it ended with code ${code}: its complaints are above`;
      add(outcome, { ...newOutcome(), failed: 1, failures: [{ where: name, what: args.join(' '), why }] });
    }
  }
  return outcome;
}

/** One `go test`. Returns the exit code and how each test ended. */
async function goTest(folder) {
  const tests = [];
  const output = new Map();
  // The flags of the lab's own build, whose compiled packages are used again. Packages take turns, as they measure time; those
  // of their tests that mostly wait run side by side.
  const code = await run('go', ['test', '-json', '-trimpath', '-count=1', '-p=1', '-parallel=4', './...'], {
    cwd: join(ROOT, folder),
    env: { CGO_ENABLED: '0' },
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
      if (!event.Test || !['pass', 'fail', 'skip'].includes(event.Action)) return;
      const why = output.get(key) ?? '';
      tests.push({ where: event.Package, what: event.Test, state: event.Action, why });
    },
  });
  return { code, tests };
}

async function go(folder) {
  const { code, tests } = await goTest(folder);
  const outcome = newOutcome();
  for (const { state, ...test } of tests) {
    outcome[{ pass: 'passed', fail: 'failed', skip: 'skipped' }[state]] += 1;
    if (state === 'fail') outcome.failures.push(goTrouble(test));
  }
  console.log(`go test in ${folder}: ${outcome.passed} passed, ${outcome.failed} failed`);
  return withCrash(outcome, code, `go test in ${folder}`);
}

/** A test's own lines begin behind that of its start. */
const goTrouble = ({ where, what, why }) => ({ where, what, why: why.replace(/^=== .*\n/gm, '') });

/** The Python tests of the model. */
async function pytest({ scratch }) {
  const file = join(scratch, 'pytest.xml');
  rmSync(file, { force: true });
  const cwd = join(ROOT, 'model/python');
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', `--junit-xml=${file}`];
  const env = { PYTHONDONTWRITEBYTECODE: '1', HOPWISE_NODE: process.execPath };
  const code = await run(PYTHON, args, { cwd, env });
  const outcome = existsSync(file) ? outcomeOfJunit(readFileSync(file, 'utf8')) : newOutcome();
  return withCrash(outcome, code, 'pytest in model/python');
}

/** One run of Vitest's projects of these names. */
async function vitest(projects, { scratch }) {
  const file = join(scratch, 'vitest.json');
  rmSync(file, { force: true });
  const reporters = ['--reporter=default', `--reporter=${join(ROOT, 'scripts/vitest-outcome.mjs')}`];
  const names = projects.map((project) => `--project=${project}`);
  const code = await run(bin('vitest'), ['run', ...names, ...reporters], {
    env: { HOPWISE_TEST_OUTCOME: file },
  });
  // Missing where Vitest ended before its tests.
  const outcome = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : newOutcome();
  return withCrash(outcome, code, `vitest, ${projects.join(' and ')}`);
}

/** One run of Playwright's tests of a project of its configuration. */
async function playwright(project, scratch) {
  const file = join(scratch, 'playwright.json');
  rmSync(file, { force: true });
  const config = ['--config', join(ROOT, 'e2e/playwright.config.ts'), '--reporter=list,json'];
  const code = await run(bin('playwright'), ['test', ...config, '--project', project], {
    env: { PLAYWRIGHT_JSON_OUTPUT_NAME: file },
  });
  const outcome = newOutcome();
  if (existsSync(file)) {
    const { suites, errors, config } = JSON.parse(readFileSync(file, 'utf8'));
    for (const suite of suites) addPlaywrightSuite(outcome, suite, [], config.rootDir);
    for (const { message } of errors) {
      const failure = { where: 'e2e/specs', what: 'outside of its tests', why: message ?? '' };
      add(outcome, { ...newOutcome(), failed: 1, failures: [failure] });
    }
  }
  return withCrash(outcome, code, `playwright, ${project}`);
}

/** @param titles of the groups around, without the file's */
function addPlaywrightSuite(outcome, { specs, suites = [] }, titles, rootDir) {
  for (const { title, file, tests } of specs) {
    for (const { status, results } of tests) {
      if (status === 'skipped') outcome.skipped += 1;
      else if (status === 'unexpected') {
        const why = results.find(({ errors }) => errors.length > 0)?.errors[0].message ?? '';
        outcome.failed += 1;
        outcome.failures.push({
          where: relative(ROOT, join(rootDir, file)),
          what: [...titles, title].join(' › '),
          why,
        });
      } else outcome.passed += 1;
    }
  }
  for (const inner of suites) addPlaywrightSuite(outcome, inner, [...titles, inner.title], rootDir);
}

/** By name, in order. Each takes `scratch`, a folder for what it writes. */
export const SUITES = {
  lint,
  go: () => go('lab/go'),
  python: pytest,
  unit: (options) => vitest(['unit'], options),
  integration: (options) => vitest(['integration', 'alone'], options),
  e2e: async ({ scratch }) => add(await playwright('together', scratch), await playwright('alone', scratch)),
  long: (options) => vitest(['long'], options),
};

/** Not part of `npm test`: `npm run test:long`. */
export const LONG_SUITES = ['long'];
