/** Entry of every npm script: brings the set-up up to date, then runs the command under Node 24. */
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BENCHES } from '../bench/src/registry.mjs';
import { ArgumentError } from './setup/arguments.mjs';
import { COMMANDS } from './setup/commands.mjs';
import { pathWithGo } from './setup/go.mjs';
import { HELPS } from './setup/helps.mjs';
import { findOnPath, nodePath, ROOT, SetupError } from './setup/programs.mjs';
import { checkSetup, isSetUp, runSetup } from './setup/setup.mjs';
import { HOST, markBuilt, PYTHON, PYTHON_BYTECODE, STEPS } from './setup/steps.mjs';
import { BUILD, LINT } from './setup/toolchain.mjs';

const SETUP_OPTIONS = ['--check', '--yes', '--verbose'];

/** Environment variable that tells a program how a person calls it, for hints on its help. */
const CALLED_AS = 'HOPWISE_CALLED_AS';

/** Environment in which a program reads its arguments, and does nothing. */
const ONLY_READ_ARGUMENTS = {
  NODE_OPTIONS: `--import=${pathToFileURL(join(ROOT, 'scripts/only-read-arguments.mjs'))}`,
};

/** Commands that need more than a script under Node. */
const OTHERS = {
  setup: runSetupCommand,
  build: runBuild,
  lint: (words) => runPrograms('lint', LINT, words),
  bench: runBench,
  model: runModel,
};

const asksForHelp = (words) => words.includes('--help') || words.includes('-h');

async function runCommand(command, words) {
  const {
    script,
    steps,
    readArguments = () => {},
    usesCommander = false,
    inCheckout = false,
    calledAs,
  } = command;
  // Not to be inherited from another command.
  const called = { [CALLED_AS]: calledAs ?? '' };
  readArguments(words);
  const needed = asksForHelp(words) ? STEPS.built : steps(words);
  const cwd = inCheckout ? process.cwd() : callersFolder();
  if (usesCommander && !isSetUp(needed)) {
    await runSetup(STEPS.built);
    const code = isSetUp(needed)
      ? 0
      : await runNode(join(ROOT, script), words, cwd, { ...ONLY_READ_ARGUMENTS, ...called });
    if (code !== 0) return code;
  }
  await runSetup(needed);
  return runNode(join(ROOT, script), words, cwd, called);
}

/** Where the person is who called an npm script, for the paths that they name: npm itself runs scripts in the checkout. */
function callersFolder() {
  const { INIT_CWD: called } = process.env;
  return called !== undefined && isAbsolute(called) && process.cwd() === realpathSync(ROOT)
    ? called
    : process.cwd();
}

async function runSetupCommand(words) {
  const unknown = words.find((word) => !SETUP_OPTIONS.includes(word));
  if (unknown !== undefined) {
    throw new ArgumentError(
      'npm run setup --',
      `expected some of ${SETUP_OPTIONS.join(', ')}, got ${unknown}`,
    );
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

async function runBuild(words) {
  const code = await runPrograms('build', BUILD, words);
  if (code === 0) markBuilt();
  return code;
}

/** Runs these programs of the packages one after the other, as long as each succeeds. */
async function runPrograms(name, programs, words) {
  if (words.length > 0) {
    throw new ArgumentError(`npm run ${name} --`, `expected no arguments, got ${words[0]}`);
  }
  await runSetup(STEPS.packages);
  for (const [script, ...options] of programs) {
    const code = await runNode(join(ROOT, script), options);
    if (code !== 0) return code;
  }
  return 0;
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
    throw new ArgumentError(
      'npm run bench --',
      `expected one of ${Object.keys(BENCHES).join(', ')}, got ${name}`,
    );
  }
  const { script, needs } = BENCHES[name];
  return runCommand({ script, steps: () => STEPS[needs], usesCommander: true }, words);
}

/** The list of benches. */
function describeBenches() {
  const width = Math.max(...Object.keys(BENCHES).map((name) => name.length));
  const rows = Object.entries(BENCHES).map(([name, { judges }]) => `  ${name.padEnd(width)}  ${judges}`);
  return ['npm run bench -- NAME [options]', '', ...rows, '', 'Options: npm run bench -- NAME --help'].join(
    '\n',
  );
}

const READ_MODEL_ARGUMENTS = ['-c', 'from hopwise_model.__main__ import parse_arguments; parse_arguments()'];

/** The model's commands are in Python, and its corpus runs the emulator. */
async function runModel(words) {
  // Its help needs no packages: any Python will do.
  const python = existsSync(PYTHON) ? PYTHON : findOnPath('python3');
  if (asksForHelp(words)) return runPython(python ?? requirePython(), words);
  // Nor does reading the arguments.
  const code = python === null ? 0 : await runPython(python, words, READ_MODEL_ARGUMENTS);
  if (code !== 0) return code;
  await runSetup(words[0] === 'corpus' ? [...STEPS.built, ...STEPS.model] : STEPS.model);
  return runPython(PYTHON, words);
}

function requirePython() {
  const python = findOnPath('python3');
  if (python === null)
    throw new SetupError('the model needs Python 3.11 or later: npm run setup installs it');
  return python;
}

/** Runs the model's commands and leaves no compiled files in the sources; none at all before the set-up. */
function runPython(python, words, program = ['-m', 'hopwise_model']) {
  const path = [join(ROOT, 'model/python'), process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  const env = {
    ...process.env,
    PYTHONPATH: path,
    ...(python === PYTHON ? PYTHON_BYTECODE : { PYTHONDONTWRITEBYTECODE: '1' }),
    HOPWISE_NODE: nodePath(),
    [CALLED_AS]: 'npm run model --',
  };
  return runProgram(python, [...program, ...words], {
    stdio: 'inherit',
    env,
    cwd: callersFolder(),
  });
}

/** Runs a script under Node 24 in this terminal; signals reach it by themselves. */
function runNode(script, words, cwd = process.cwd(), variables = {}) {
  // Over the channel the child learns of this process's end even when it comes by SIGKILL.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  const env = { ...process.env, ...variables, PATH: pathWithGo(process.env.PATH) };
  return runProgram(nodePath(), ['--enable-source-maps', script, ...words], { stdio, env, cwd });
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
  if (asksForHelp(words) && Object.hasOwn(HELPS, name)) {
    console.log(HELPS[name]);
    return 0;
  }
  if (Object.hasOwn(COMMANDS, name)) return runCommand(COMMANDS[name], words);
  if (Object.hasOwn(OTHERS, name)) return OTHERS[name](words);
  const known = [...Object.keys(COMMANDS), ...Object.keys(OTHERS)].join(', ');
  console.error(`hopwise: expected one of ${known}, got ${name ?? 'nothing'}`);
  return 2;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (error instanceof ArgumentError) {
    console.error(error.message);
    process.exitCode = 2;
  } else if (error instanceof SetupError) {
    console.error(`hopwise: ${error.message}`);
    process.exitCode = 1;
  } else throw error;
}
