#!/usr/bin/env node
/** The `hopwise-server` command. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { firstLine } from '@hopwise/contract';
import {
  readingProblem,
  refuseUnknownTopic,
  unifyErrors,
  writingProblem,
} from '@hopwise/contract/command-line';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { Agent, type AgentOptions } from '../src/agent/agent.ts';
import { serveLocally } from '../src/agent/local-server.ts';
import { readOrMakeKey, readState, StateError, stateFile } from '../src/learn/learned-file.ts';
import { DEFAULT_WINDOWS, USUAL_WINDOW, WINDOW_OBJECTIVES } from '../src/learn/window-controller.ts';
import { LOG_FORMAT } from '../src/log/access-log.ts';
import { LogTail } from '../src/log/log-tail.ts';
import { lockTable } from '../src/routes/agent-lock.ts';
import { takeBackRoutes } from '../src/routes/ip-command.ts';

const PROGRAM = 'hopwise-server';
const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

const print = (text: string): void => writeFileSync(1, `${text}\n`);
const note = (text: string): boolean => process.stderr.write(`${PROGRAM}: ${text}\n`);

/** What the user can mend: printed in one line. */
class UsageError extends Error {
  override readonly name = 'UsageError';
}

const refuse = (expected: string, problem: string): never => {
  throw new UsageError(`${expected}, ${problem}`);
};

function integer(low: number, high: number) {
  return (text: string): number => {
    const number = /^\s*\d+\s*$/.test(text) ? Number(text) : Number.NaN;
    if (number >= low && number <= high) return number;
    throw new InvalidArgumentError(`expected a whole number from ${low} to ${high}`);
  };
}

/** Whole numbers, separated by commas, in rising order. */
function integers(low: number, high: number) {
  return (text: string): number[] =>
    [...new Set(text.split(',').map(integer(low, high)))].sort((a, b) => a - b);
}

function windowList(text: string): number[] {
  const windows = integers(1, 500)(text);
  if (windows.includes(USUAL_WINDOW) && windows.length <= 12) return windows;
  throw new InvalidArgumentError(`expected up to 12 windows, ${USUAL_WINDOW} among them`);
}

const tableOption = (): Option =>
  new Option('--table <n>', 'number of a routing table that nothing else uses')
    .argParser(integer(1, 252))
    .default(199);
const stateOption = (): Option =>
  new Option('--state <folder>', 'where it keeps what it learns').default('/var/lib/hopwise-server');

async function lockOrFail(table: number, what: string): Promise<void> {
  if ((await lockTable(table)) === null)
    throw new Error(`another ${PROGRAM} uses routing table ${table}: ${what}`);
}

async function run(options: AgentOptions & { log: string; port: number }): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  const { log, state, apply, table } = options;
  if (apply) await lockOrFail(table, 'stop it first, or name another table by --table');
  const tail = await LogTail.open(log).catch((error) =>
    refuse(`${log}: expected a readable file`, readingProblem(error)),
  );
  const agent = new Agent(options, readKey(state), (line) =>
    line.startsWith('would ') ? print(line) : note(line),
  );
  const { server, port } = await serveLocally(agent, options.port).catch((error) =>
    refuse('--port: expected a free port', `got ${options.port} (${firstLine(error)})`),
  );
  const deed = apply ? 'sets routes' : 'only shows what it would do (--apply does it)';
  note(`reads ${log}; metrics on http://127.0.0.1:${port}/metrics; ${deed}`);
  try {
    await agent.run(tail, stop.signal);
  } finally {
    server.close();
    server.closeAllConnections();
    await tail.close();
  }
}

function readKey(folder: string): Buffer {
  try {
    return readOrMakeKey(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return refuse(`--state: expected a folder for the agent's files`, `${writingProblem(error)}: ${folder}`);
  }
}

function readVersion(): string {
  // The sources lie one folder below the package, the build two.
  const up = import.meta.url.endsWith('.ts') ? '../package.json' : '../../package.json';
  return (JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as { version: string }).version;
}

const program = new Command(PROGRAM)
  .description(
    'Learns beside nginx which initial window of TCP suits each cluster of clients, so that first responses take fewer round trips.',
  )
  .version(readVersion(), '--version', 'print the version')
  .exitOverride();

program
  .command('run')
  .description('learn from the access log and the kernel; with --apply, set the windows by routes')
  .requiredOption('--log <file>', "nginx's access log in the format that the command log-format prints")
  .option('--apply', 'set routes; without it only show what would be done')
  .addOption(stateOption())
  .option('--server-ports <list>', 'ports of nginx', integers(1, 65_535), [80, 443])
  .option('--windows <list>', 'initial windows to choose from, segments', windowList, DEFAULT_WINDOWS)
  .addOption(
    new Option('--objective <name>', 'what is to be least').choices(WINDOW_OBJECTIVES).default('p80'),
  )
  .addOption(tableOption())
  .option('--max-routes <n>', 'maximum number of routes', integer(1, 10_000), 500)
  .option(
    '--min-connections <n>',
    'a narrower cluster needs so many connections of late for a window of its own',
    integer(1, 100_000),
    20,
  )
  .option('--interval <ms>', 'time between two looks', integer(50, 60_000), 500)
  .option('--port <n>', 'port on 127.0.0.1 for metrics and p(cwnd); 0 for any', integer(0, 65_535), 9464)
  .action(run);

program
  .command('undo')
  .description('take back all routes that an agent has left')
  .addOption(tableOption())
  .action(async ({ table }: { table: number }) => {
    await lockOrFail(table, 'stop it; it takes its routes back itself');
    print(`took back ${await takeBackRoutes(table)} routes`);
  });

program
  .command('report')
  .description('write what was learned as an HTML file')
  .addOption(stateOption())
  .option('--out <file>', 'the file', 'hopwise-server.html')
  .action(async ({ state, out }: { state: string; out: string }) => {
    const learned = readState(state);
    if (!existsSync(stateFile(state)))
      refuse(`--state ${state}: expected the folder of an agent that has learned`, 'but nothing is there');
    // Commands that run all the time do not need what draws.
    const { renderReport } = await import('../src/report/report.ts');
    const page = renderReport(learned);
    try {
      writeFileSync(out, page);
    } catch (error) {
      refuse(`${out}: expected a file that can be written`, writingProblem(error));
    }
    print(out);
  });

program
  .command('log-format')
  .description("print the lines that nginx's configuration needs")
  .action(() => print(LOG_FORMAT));

unifyErrors(program, { program: PROGRAM });

try {
  refuseUnknownTopic(program, process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // Commander has printed the error; help ends with 0.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  } else {
    note(firstLine(error));
    process.exitCode = error instanceof UsageError || error instanceof StateError ? EXIT_USAGE : EXIT_FAILURE;
  }
}
