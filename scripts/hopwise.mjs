/** Entry of every npm script: brings the set-up up to date, then runs the command under Node 24. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { BENCHES } from '../bench/src/registry.mjs';
import { pathWithGo } from './setup/go.mjs';
import { nodePath, ROOT, SetupError } from './setup/programs.mjs';
import { checkSetup, runSetup } from './setup/setup.mjs';
import { HOST, PYTHON, STEPS } from './setup/steps.mjs';

const SETUP_OPTIONS = ['--check', '--yes', '--verbose'];
const SETUP_USAGE = `npm run setup [-- OPTIONS]: installs what hopwise needs
  --check    only shows what is there and what is missing
  --yes      does not ask before it uses root
  --verbose  shows what each step prints`;

/**
 * A command is run under Node 24 after the set-up that it needs.
 *
 * @typedef {object} Command
 * @property {string} script below the checkout
 * @property {(words: string[]) => object[]} steps the set-up that these arguments need
 */

/** @type {Record<string, Command>} */
const COMMANDS = {
  start: { script: 'e2e/dist/start/main.js', steps: stepsOfStart },
  test: { script: 'scripts/suites/main.ts', steps: () => STEPS.all },
  fresh: { script: 'scripts/fresh/main.ts', steps: () => STEPS.fresh },
  lab: { script: 'lab/dist/main.js', steps: stepsOfLab },
  research: { script: 'research/src/main.ts', steps: stepsOfResearch },
  cli: { script: 'pageload-emulator/bin/hopwise.mjs', steps: () => STEPS.built },
  helper: {
    script: 'native-host/bin/hopwise-host.mjs',
    steps: ({ length }) => (length > 0 ? STEPS.helper : STEPS.built),
  },
  package: { script: 'scripts/package/main.ts', steps: () => STEPS.built },
};

/** Commands that need more than a script under Node. */
const OTHERS = { setup: runSetupCommand, bench: runBench, model: runModel };

const asksForHelp = (words) => words.includes('--help') || words.includes('-h');

function stepsOfStart(words) {
  return words.some((word) => /^https?:\/\//.test(word)) ? STEPS.live : STEPS.lab;
}

function stepsOfLab(words) {
  switch (words[0]) {
    case 'summary':
      return STEPS.built;
    case 'advise':
    case 'check':
      return STEPS.check;
    case 'record': {
      const isUnchecked = words[words.indexOf('--check') + 1] === 'none' || words.includes('--check=none');
      return isUnchecked ? STEPS.record : STEPS.recordAndCheck;
    }
    default:
      return STEPS.matrix;
  }
}

function stepsOfResearch(words) {
  if (words.length === 0) return STEPS.built;
  if (words[0] !== 'papers') return STEPS.pcwnd;
  return [
    ...(words.includes('--quick') ? STEPS.built : STEPS.matrix),
    ...(words.some((word) => /^--data(=|$)/.test(word)) ? STEPS.model : []),
  ];
}

async function runCommand({ script, steps }, words) {
  await runSetup(asksForHelp(words) ? STEPS.built : steps(words));
  return runNode(join(ROOT, script), words);
}

async function runSetupCommand(words) {
  if (asksForHelp(words)) {
    console.log(SETUP_USAGE);
    return 0;
  }
  const unknown = words.find((word) => !SETUP_OPTIONS.includes(word));
  if (unknown !== undefined) {
    console.error(`npm run setup: expected some of ${SETUP_OPTIONS.join(', ')}, got ${unknown}`);
    return 2;
  }
  if (!words.includes('--check')) {
    await runSetup(STEPS.all, { yes: words.includes('--yes'), verbose: words.includes('--verbose') });
    checkSetup((line) => console.error(line));
    await reportLibcurl();
    return 0;
  }
  const isComplete = checkSetup();
  await reportLibcurl();
  return isComplete ? 0 : 1;
}

/** Shows the version and age of the private libcurl, and whether Debian offers a newer one. */
async function reportLibcurl() {
  if (existsSync(HOST)) await runNode(HOST, ['setup', '--check']);
}

async function runBench([name, ...words]) {
  if (name === undefined || name === '--help' || name === '-h') {
    console.log(describeBenches());
    return 0;
  }
  if (!Object.hasOwn(BENCHES, name)) {
    console.error(`npm run bench: expected one of ${Object.keys(BENCHES).join(', ')}, got ${name}`);
    return 2;
  }
  const { script, needs } = BENCHES[name];
  return runCommand({ script, steps: () => STEPS[needs] }, words);
}

/** The list of benches. */
function describeBenches() {
  const width = Math.max(...Object.keys(BENCHES).map((name) => name.length));
  const rows = Object.entries(BENCHES).map(([name, { judges }]) => `  ${name.padEnd(width)}  ${judges}`);
  return ['npm run bench -- NAME [options]', '', ...rows, '', 'Options: npm run bench -- NAME --help'].join(
    '\n',
  );
}

/** The model's commands are in Python, and its corpus runs the emulator. */
async function runModel(words) {
  await runSetup(words[0] === 'corpus' ? [...STEPS.built, ...STEPS.model] : STEPS.model);
  const path = [join(ROOT, 'model/python'), process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  const env = { ...process.env, PYTHONPATH: path, HOPWISE_NODE: nodePath() };
  return runProgram(PYTHON, ['-m', 'hopwise_model', ...words], { stdio: 'inherit', env });
}

/** Runs a script under Node 24 in this terminal; signals reach it by themselves. */
function runNode(script, words) {
  // Over the channel the child learns of this process's end even when it comes by SIGKILL.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  const env = { ...process.env, PATH: pathWithGo(process.env.PATH) };
  return runProgram(nodePath(), ['--enable-source-maps', script, ...words], { stdio, env });
}

function runProgram(file, words, options) {
  return new Promise((resolve) => {
    const child = spawn(file, words, options);
    // The child cleans up and ends, this process waits for it; a terminal's Ctrl-C reaches it twice.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('error', (error) => {
      console.error(`hopwise: ${error.message}`);
      resolve(1);
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
}

async function main([name, ...words]) {
  const { node } = process.versions;
  if (Number(node.split('.')[0]) < 20)
    throw new SetupError(`Node ${node} is too old: hopwise needs Node 20 or later`);
  if (Object.hasOwn(COMMANDS, name)) return runCommand(COMMANDS[name], words);
  if (Object.hasOwn(OTHERS, name)) return OTHERS[name](words);
  const known = [...Object.keys(COMMANDS), ...Object.keys(OTHERS)].join(', ');
  throw new SetupError(`expected one of ${known}, got ${name ?? 'nothing'}`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`hopwise: ${error.message}`);
  process.exitCode = 1;
}
