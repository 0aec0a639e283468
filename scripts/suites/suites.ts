/** The suites of `npm test`: each runs its programs in a lane and returns its outcome. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { ROOT } from '../setup/programs.mjs';
import { PYTHON, PYTHON_BYTECODE } from '../setup/steps.mjs';
import { LINT } from '../setup/toolchain.mjs';
import { LEFT_OUT_VARIABLE, listUndrawnFiles, SHARE_VARIABLE } from './draw-share.ts';
import { outcomeOfJunit } from './junit-outcome.ts';
import { type Lane, packageProgram } from './lane.ts';
import { addOutcome, failedOutcome, newOutcome, type Outcome } from './outcome.ts';

interface SuiteContext {
  lane: Lane;
  /** A folder for what the suite writes. */
  scratch: string;
  /** Packages whose tests run; all unless given. */
  packages?: readonly string[];
}

/** A program that failed without a failed test (it crashed, or found no test) counts as one failure. */
function withCrash(outcome: Outcome, code: number, what: string): Outcome {
  if (outcome.failed > 0 || (code === 0 && outcome.passed > 0)) return outcome;
  const why = code === 0 ? 'it found no test' : `it ended with code ${code}, and no test failed`;
  return addOutcome(outcome, failedOutcome({ where: '', what, why }));
}

async function runLint({ lane }: SuiteContext): Promise<Outcome> {
  const outcome = newOutcome();
  for (const [script, ...args] of LINT) {
    const code = await lane.run(join(ROOT, script!), args);
    if (code === 0) outcome.passed += 1;
    else {
      const why = `it ended with code ${code}: its complaints are above`;
      addOutcome(outcome, failedOutcome({ where: basename(script!), what: args.join(' '), why }));
    }
  }
  return outcome;
}

/** A line of `go test -json` (go doc test2json). */
interface GoEvent {
  Action: string;
  Package: string;
  Test?: string;
  Output?: string;
  Elapsed?: number;
}

const GO_FOLDER = 'lab/go';

async function runGo({ lane }: SuiteContext): Promise<Outcome> {
  const outcome = newOutcome();
  const output = new Map<string, string>();
  const readEvent = (line: string): void => {
    let event: GoEvent;
    try {
      event = JSON.parse(line);
    } catch {
      lane.say(line);
      return;
    }
    const key = `${event.Package} ${event.Test ?? ''}`;
    const printed = output.get(key) ?? '';
    if (event.Action === 'output' || event.Action === 'build-output') output.set(key, printed + event.Output);
    if (event.Action === 'build-output') lane.say((event.Output ?? '').trimEnd());
    if (event.Action === 'fail') lane.say(printed.trimEnd());
    if (!event.Test) {
      if (event.Action === 'pass' || event.Action === 'fail')
        outcome.files.push({ file: event.Package, seconds: event.Elapsed ?? 0, processorSeconds: null });
      return;
    }
    if (event.Action === 'pass') outcome.passed += 1;
    else if (event.Action === 'skip') outcome.skipped += 1;
    else if (event.Action === 'fail') {
      outcome.failed += 1;
      // A test's own lines begin behind that of its start.
      const why = printed.replace(/^=== .*\n/gm, '');
      outcome.failures.push({ where: event.Package, what: event.Test, why });
    }
  };
  // The flags of the lab's own build, whose compiled packages are used again. Packages take turns, as they measure time; those
  // of their tests that mostly wait run side by side.
  const args = ['test', '-json', '-trimpath', '-count=1', '-p=1', '-parallel=4', './...'];
  const code = await lane.run('go', args, {
    cwd: join(ROOT, GO_FOLDER),
    env: { CGO_ENABLED: '0' },
    onLine: readEvent,
  });
  return withCrash(outcome, code, `go test in ${GO_FOLDER}`);
}

/** The Python tests of the model. */
async function runPytest({ lane, scratch }: SuiteContext): Promise<Outcome> {
  const file = join(scratch, 'pytest.xml');
  rmSync(file, { force: true });
  const setup = await lane.run(process.execPath, [join(ROOT, 'scripts/hopwise.mjs'), 'setup']);
  if (setup !== 0) return withCrash(newOutcome(), setup, "set-up of the model's packages");
  const cwd = join(ROOT, 'model/python');
  const args = ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', `--junit-xml=${file}`];
  // One thread: the tests' models are small, and threads that wait for each other's share of one keep a processor busy meanwhile.
  const env = { ...PYTHON_BYTECODE, HOPWISE_NODE: process.execPath, OMP_NUM_THREADS: '1' };
  const code = await lane.run(PYTHON, args, { cwd, env });
  const outcome = existsSync(file) ? outcomeOfJunit(readFileSync(file, 'utf8')) : newOutcome();
  return withCrash(outcome, code, 'pytest in model/python');
}

/** One run of projects of Vitest's configuration. @param leftOut files that it leaves out */
async function runVitest(
  projects: readonly string[],
  { lane, scratch, packages }: SuiteContext,
  { env = {}, leftOut = [] }: { env?: Record<string, string>; leftOut?: readonly string[] } = {},
): Promise<Outcome> {
  const file = join(scratch, `vitest-${projects[0]}.json`);
  rmSync(file, { force: true });
  const reporters = ['--reporter=default', `--reporter=${join(import.meta.dirname, 'vitest-outcome.ts')}`];
  // Some packages have no tests of this kind.
  const folders =
    packages === undefined ? [] : [...packages.map((name) => `${name}/test/`), '--passWithNoTests'];
  const code = await lane.run(
    packageProgram('vitest'),
    ['run', ...projects.map((name) => `--project=${name}`), ...folders, ...reporters],
    { env: { ...env, [LEFT_OUT_VARIABLE]: leftOut.join(':'), HOPWISE_TEST_OUTCOME: file } },
  );
  // Missing where Vitest ended before its tests.
  const outcome: Outcome = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : newOutcome();
  if (code === 0 && packages !== undefined) return outcome;
  return withCrash(outcome, code, `vitest, ${projects.join(' and ')}`);
}

/** A group of Playwright's JSON report. */
interface PlaywrightSuite {
  title: string;
  specs: {
    title: string;
    file: string;
    tests: { status: string; results: { duration: number; errors: { message: string }[] }[] }[];
  }[];
  suites?: PlaywrightSuite[];
}

/** One run of a project of Playwright's configuration. @param leftOut files that it leaves out */
async function runPlaywright(
  project: string,
  { lane, scratch }: SuiteContext,
  { env = {}, leftOut = [] }: { env?: Record<string, string>; leftOut?: readonly string[] } = {},
): Promise<Outcome> {
  const file = join(scratch, `playwright-${project}.json`);
  rmSync(file, { force: true });
  const config = ['--config', join(ROOT, 'e2e/playwright.config.ts'), '--reporter=list,json'];
  // It has no option that leaves files out, but a test's title begins with the name of its file.
  const names = leftOut.map((path) => basename(path).replaceAll('.', '\\.'));
  const invert = names.length === 0 ? [] : [`--grep-invert=${names.join('|')}`];
  const words = ['test', ...config, '--project', project, ...invert];
  const code = await lane.run(packageProgram('playwright'), words, {
    env: { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: file },
  });
  const outcome = newOutcome();
  if (existsSync(file)) {
    const { suites, errors, config } = JSON.parse(readFileSync(file, 'utf8'));
    for (const suite of suites) addPlaywrightSuite(outcome, suite, [], config.rootDir);
    for (const { message } of errors) {
      addOutcome(
        outcome,
        failedOutcome({ where: 'e2e/specs', what: 'outside of its tests', why: message ?? '' }),
      );
    }
  }
  return withCrash(outcome, code, `playwright, ${project}`);
}

/** @param titles of the groups around, without the file's */
function addPlaywrightSuite(
  outcome: Outcome,
  { specs, suites = [] }: PlaywrightSuite,
  titles: readonly string[],
  rootDir: string,
): void {
  for (const { title, file, tests } of specs) {
    const where = relative(ROOT, join(rootDir, file));
    const what = [...titles, title].join(' › ');
    for (const { status, results } of tests) {
      const seconds = results.reduce((sum, { duration }) => sum + duration, 0) / 1000;
      outcome.files.push({ file: `${where} › ${what}`, seconds, processorSeconds: null });
      if (status === 'skipped') outcome.skipped += 1;
      else if (status === 'unexpected') {
        const why = results.find(({ errors }) => errors.length > 0)?.errors[0]?.message ?? '';
        outcome.failed += 1;
        outcome.failures.push({ where, what, why });
      } else outcome.passed += 1;
    }
  }
  for (const inner of suites) addPlaywrightSuite(outcome, inner, [...titles, inner.title], rootDir);
}

/** The quiet ones among them: with a draw of their own one of these few would run each time, while the processors mostly idle. */
const DRAWN_FILES = '*/test/**/*.drawn{,.quiet}.integration.test.ts';
const DRAWN_SPECS = 'e2e/specs/*.drawn.spec.ts';

/** The drawn files that a run leaves out: none of the packages that a change touches. */
const leaveOut = ({ packages }: SuiteContext, pattern: string): string[] =>
  packages === undefined ? listUndrawnFiles(ROOT, pattern) : [];

export interface Suite {
  run(context: SuiteContext): Promise<Outcome>;
  /**
   * `background`: takes what the others leave of the processor. `foreground`: one after another, beside those. `alone`: measures
   * times, after all others. `long`: not part of `npm test`.
   */
  when: 'background' | 'foreground' | 'alone' | 'long';
}

/** By name; those of one kind run in this order. */
export const SUITES: Record<string, Suite> = {
  lint: { run: runLint, when: 'background' },
  python: { run: runPytest, when: 'background' },
  unit: { run: (context) => runVitest(['unit', 'unit-extension'], context), when: 'foreground' },
  go: { run: runGo, when: 'foreground' },
  integration: {
    run: (context) => runVitest(['integration'], context, { leftOut: leaveOut(context, DRAWN_FILES) }),
    when: 'foreground',
  },
  e2e: {
    run: (context) => runPlaywright('together', context, { leftOut: leaveOut(context, DRAWN_SPECS) }),
    when: 'foreground',
  },
  alone: {
    run: (context) => runVitest(['quiet', 'alone'], context, { leftOut: leaveOut(context, DRAWN_FILES) }),
    when: 'alone',
  },
  /** What `npm test` has no time for: the long files, all drawn files, and every case of the tables of which it draws a share. */
  long: {
    async run(context) {
      const outcome = await runVitest(['long'], context);
      const all = { env: { [SHARE_VARIABLE]: 'all' } };
      for (const projects of [['unit', 'unit-extension'], ['integration']])
        addOutcome(outcome, await runVitest(projects, context, all));
      addOutcome(outcome, await runPlaywright('together', context, all));
      addOutcome(outcome, await runVitest(['quiet'], context, all));
      return addOutcome(outcome, await runPlaywright('long', context));
    },
    when: 'long',
  },
};
