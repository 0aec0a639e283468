/**
 * Entry of every npm script: brings the set-up up to date, then runs the command under Node 24.
 *
 *   hopwise.mjs setup [--check] [--yes] [--verbose]
 *   hopwise.mjs start [URL] [options]     (see e2e/src/start/)
 *   hopwise.mjs test [--only SUITE]       (see scripts/test.mjs)
 *   hopwise.mjs bench [options]           (see bench/emulator/speed.ts and bench/src/speed/)
 *   hopwise.mjs lab|record|accuracy|flows|loop|papers|probe|rollback|udp (see bench/src/{ground-truth,accuracy,flows,loop,papers,probe,rollback,udp}/, lab/src/record/)
 *   hopwise.mjs tunnel|terminating        (see bench/pins/)
 *   hopwise.mjs pin                       (see bench/pins/)
 *   hopwise.mjs recorder                  (see bench/recorder/)
 *   hopwise.mjs cli|helper               (the commands hopwise and hopwise-host, see pageload-emulator/ and native-host/)
 *   hopwise.mjs model COMMAND             (see model/python/)
 *   hopwise.mjs package [PART]            (see scripts/package/main.ts)
 *   hopwise.mjs pack-playwright DIR       (see scripts/pack-playwright.mjs)
 *   hopwise.mjs faults                    (see native-host/test/faults/; with --browser extension/test/pins/faults/)
 *   hopwise.mjs fuzz                      (see bench/fuzz/)
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { checkSetup, runSetup } from './setup.mjs';
import { nodePath, ROOT, SetupError } from './setup-programs.mjs';
import { HOST, PYTHON, STEPS } from './setup-steps.mjs';

const [command, ...args] = process.argv.slice(2);
/** Programs that the build compiles. */
const PROGRAMS = {
  start: 'e2e/dist/start/main.js',
  lab: 'bench/dist/ground-truth/main.js',
  record: 'lab/dist/record/main.js',
  accuracy: 'bench/dist/accuracy/main.js',
  flows: 'bench/dist/flows/main.js',
  udp: 'bench/dist/udp/main.js',
  probe: 'bench/dist/probe/main.js',
  loop: 'bench/dist/loop/main.js',
  papers: 'bench/dist/papers/main.js',
  rollback: 'bench/dist/rollback/main.js',
};

/** What a command with these arguments needs. */
function stepsOf(name, words) {
  if (words.includes('--help') || words.includes('-h')) return STEPS.built;
  switch (name) {
    case 'start':
      return words.some((word) => /^https?:\/\//.test(word)) ? STEPS.live : STEPS.lab;
    case 'record': {
      const unchecked = words[words.indexOf('--check') + 1] === 'none' || words.includes('--check=none');
      return unchecked ? STEPS.record : STEPS.recordAndCheck;
    }
    case 'lab':
      return (
        {
          summary: STEPS.built,
          advise: STEPS.check,
          check: STEPS.check,
          pcwnd: STEPS.pcwnd,
          'initial-window': STEPS.pcwnd,
        }[words[0]] ?? STEPS.matrix
      );
    case 'probe':
    case 'udp':
      return STEPS.udp;
    case 'loop':
      return STEPS.matrix;
    case 'papers':
      return [
        ...(words.includes('--quick') ? STEPS.built : STEPS.matrix),
        ...(words.some((word) => /^--data(=|$)/.test(word)) ? STEPS.model : []),
      ];
    case 'flows':
      return words.includes('--no-measure') ? STEPS.built : STEPS.pcwnd;
    default:
      return STEPS.built;
  }
}

/** Runs a script under Node 24 in this terminal; signals reach it by themselves. */
function runNode(script, scriptArgs) {
  // Over the channel the child learns of this process's end even when it comes by SIGKILL.
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'];
  return runProgram(nodePath(), ['--enable-source-maps', script, ...scriptArgs], { stdio });
}

function runPython(pythonArgs) {
  const path = [join(ROOT, 'model/python'), process.env.PYTHONPATH].filter(Boolean).join(delimiter);
  const env = { ...process.env, PYTHONPATH: path, HOPWISE_NODE: nodePath() };
  return runProgram(PYTHON, pythonArgs, { stdio: 'inherit', env });
}

function runProgram(file, fileArgs, options) {
  return new Promise((resolve) => {
    const child = spawn(file, fileArgs, options);
    // The child cleans up and ends, this process waits for it; a terminal's Ctrl-C reaches it twice.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('error', (error) => {
      console.error(`hopwise: ${error.message}`);
      resolve(1);
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Shows the version and age of the private libcurl, and whether Debian offers a newer one. */
async function reportLibcurl() {
  if (existsSync(HOST)) await runNode(HOST, ['setup', '--check']);
}

async function main() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20)
    throw new SetupError(`Node ${process.versions.node} is too old: hopwise needs Node 20 or later`);
  switch (command) {
    case 'setup':
      if (args.includes('--check')) {
        const complete = checkSetup();
        await reportLibcurl();
        return complete ? 0 : 1;
      }
      await runSetup(STEPS.all, { yes: args.includes('--yes'), verbose: args.includes('--verbose') });
      checkSetup(STEPS.all, (line) => console.error(line));
      await reportLibcurl();
      return 0;
    case 'test':
      await runSetup(STEPS.all);
      return runNode(join(ROOT, 'scripts/test.mjs'), args);
    case 'start':
    case 'lab':
    case 'record':
    case 'accuracy':
    case 'flows':
    case 'loop':
    case 'papers':
    case 'probe':
    case 'rollback':
    case 'udp':
      await runSetup(stepsOf(command, args));
      return runNode(join(ROOT, PROGRAMS[command]), args);
    case 'bench': {
      await runSetup(stepsOf(command, args));
      const beside = () => runNode(join(ROOT, 'bench/dist/speed/main.js'), args);
      // Help, or figures for a program to read.
      if (['--help', '-h', '--json'].some((word) => args.includes(word))) return beside();
      return (await runNode(join(ROOT, 'bench/emulator/speed.ts'), [])) || beside();
    }
    case 'cli':
      await runSetup(STEPS.built);
      return runNode(join(ROOT, 'pageload-emulator/bin/hopwise.mjs'), args);
    case 'helper':
      await runSetup(STEPS.helper);
      return runNode(join(ROOT, 'native-host/bin/hopwise-host.mjs'), args);
    case 'model':
      // The corpus runs the emulator.
      await runSetup(args[0] === 'corpus' ? [...STEPS.built, ...STEPS.model] : STEPS.model);
      return runPython(['-m', 'hopwise_model', ...args]);
    case 'package':
      await runSetup(STEPS.built);
      return runNode(join(ROOT, 'scripts/package/main.ts'), args);
    case 'pack-playwright':
      await runSetup(STEPS.built);
      return runNode(join(ROOT, 'scripts/pack-playwright.mjs'), args);
    case 'tunnel':
    case 'terminating':
      await runSetup(STEPS.built);
      return runNode(join(ROOT, 'bench/pins', `${command}.ts`), args);
    case 'recorder':
      await runSetup(STEPS.record);
      return runNode(join(ROOT, 'bench/recorder/recorder-cost.ts'), args);
    case 'pin':
      await runSetup(STEPS.record);
      return runNode(join(ROOT, 'bench/pins/pin-effect.ts'), args);
    case 'faults': {
      await runSetup(STEPS.built);
      const isReal = args.some((word) => /^--browser(=|$)/.test(word));
      const folder = isReal ? 'extension/test/pins/faults' : 'native-host/test/faults';
      return runNode(join(ROOT, folder, 'main.ts'), args);
    }
    case 'fuzz':
      await runSetup(STEPS.built);
      return runNode(join(ROOT, 'bench/fuzz/main.ts'), args);
    default:
      throw new SetupError(
        `expected setup, start, test, lab, record, bench, accuracy, flows, loop, papers, rollback, udp, tunnel, terminating, pin, recorder, faults, fuzz, cli, helper, model, package or pack-playwright, got ${command ?? 'nothing'}`,
      );
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`hopwise: ${error.message}`);
  process.exitCode = 1;
}
