/** `npm run lab -- requests`: measures requests through the helper's proxy over TCP and QUIC. */
import { setMaxListeners } from 'node:events';
import { access, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { readingProblem } from '@hopwise/contract/command-line';
import { Command, Option } from 'commander';
import { labObstacle } from '../client/lab.ts';
import { type ServerStack, STACKS } from '../client/server-stack.ts';
import { UserError } from '../command/errors.ts';
import { lockFolder } from '../command/measuring-lock.ts';
import { integer, someOf } from '../command/option-types.ts';
import { checkOutputFile, makeOutputFolder } from '../command/output-folder.ts';
import type { ProgramContext } from '../command/program.ts';
import { Progress } from '../command/progress.ts';
import { SPLITS, type Split } from '../gauntlet/splits.ts';
import { HOST_SCRIPT } from '../paths.ts';
import { CHANGES, type Change, type Condition, drawCondition } from './draw-condition.ts';
import { TRANSPORTS } from './session.ts';
import { SessionLab } from './session-lab.ts';
import { readSessions } from './session-row.ts';
import { SessionStore } from './store.ts';
import { showRequestTimes } from './summarise-requests.ts';

interface Options {
  split: Split;
  conditions: number;
  seed: number;
  server: (keyof typeof STACKS)[];
  jobs: number;
  out: string;
  table?: string;
  limitMinutes?: number;
  change: Change[];
  helper: string;
  against?: string;
}

/** Both sessions of a condition with the servers of a stack, one after the other: what is noise of the machine's is alike. */
interface Pair {
  condition: Condition;
  stack: ServerStack;
}

const STACK_NAMES = Object.keys(STACKS) as (keyof typeof STACKS)[];

export function requestsCommand(context: ProgramContext): Command {
  return new Command('requests')
    .exitOverride()
    .description(
      "measures a page's requests through the helper's proxy over TCP and over QUIC, on drawn networks that may change in mid-session; the same command continues an interrupted run",
    )
    .addOption(
      new Option('--split <name>', 'train, validation and test have no page, network or server in common')
        .choices(SPLITS)
        .default('train' satisfies Split),
    )
    .option(
      '--conditions <n>',
      'pages, each on a network of its own; 0 to measure none',
      integer(0, 10_000),
      300,
    )
    .option('--seed <n>', 'of the draws', integer(0, 2 ** 31), 1)
    .addOption(
      new Option('--server <stacks>', 'servers, separated by commas: go, or nginx with quiche for HTTP/3')
        .argParser(someOf(STACK_NAMES))
        .default(STACK_NAMES, STACK_NAMES.join()),
    )
    .option('--jobs <n>', 'sessions at once, each in namespaces of its own', integer(1, 32), 4)
    .option('--out <dir>', 'folder of the sessions', 'out/requests')
    .option(
      '--table <file>',
      'also write the table of all sessions in the folder: JSON lines, compressed by gzip',
    )
    .addOption(
      new Option('--change <names>', 'only conditions with these changes, separated by commas')
        .argParser(someOf(CHANGES))
        .default(CHANGES, 'all'),
    )
    .option('--helper <file>', "another build's hopwise-host.js", HOST_SCRIPT)
    .option(
      '--against <path>',
      "a folder or table of the same conditions' sessions, to be printed beside those of the folder",
    )
    .option('--limit-minutes <n>', 'begin no session after this many minutes', integer(1, 100_000))
    .action((options: Options) => measureRequests(options, context));
}

async function measureRequests(options: Options, context: ProgramContext): Promise<void> {
  const dir = resolve(options.out);
  const against = options.against === undefined ? null : await readSessions(options.against);
  await access(options.helper).catch((error) => {
    throw new UserError(`--helper: expected a readable file, ${readingProblem(error)}`, 2);
  });
  if (options.table !== undefined) await checkOutputFile('--table', options.table);
  await makeOutputFolder(options.out);
  context.cleanup.add('the lock', await lockFolder(dir));
  const store = await SessionStore.open(dir);
  const left = listPairs(options).filter(
    ({ condition, stack }) =>
      !TRANSPORTS.every((transport) => store.has({ condition: condition.name, stack, transport })),
  );
  if (left.length > 0) {
    const obstacle = await labObstacle();
    if (obstacle !== null) throw new UserError(obstacle);
    await context.useScratch();
    // Each job's lab listens.
    setMaxListeners(0, context.signal);
    await new Measurement(options, left, store, context).run();
  }
  const rows = await readSessions(dir);
  if (rows.length > 0) process.stdout.write(showRequestTimes(rows, against));
  if (options.table === undefined) return;
  const path = resolve(options.table);
  const { sessions, bytes } = await store.writeTable(path).catch((error) => {
    throw new UserError(`--table ${options.table}: ${firstLine(error)}`, 2);
  });
  context.say(`${sessions} sessions, ${(bytes / 1e6).toFixed(2)} MB in ${options.table}`);
}

function listPairs({ split, seed, conditions, server, change }: Options): Pair[] {
  return Array.from({ length: conditions }, (_, number) => drawCondition(split, seed, number))
    .filter((condition) => change.includes(condition.change))
    .flatMap((condition) => server.map((name) => ({ condition, stack: STACKS[name] })));
}

class Measurement {
  readonly #left: Pair[];
  readonly #all: number;
  readonly #store: SessionStore;
  readonly #options: Options;
  readonly #context: ProgramContext;
  readonly #progress = new Progress();
  #done = 0;
  #failed = 0;

  constructor(options: Options, pairs: Pair[], store: SessionStore, context: ProgramContext) {
    this.#options = options;
    this.#left = [...pairs];
    this.#all = pairs.length;
    this.#store = store;
    this.#context = context;
  }

  async run(): Promise<void> {
    const { server, jobs, split } = this.#options;
    this.#progress.step(`${this.#all} pairs of sessions to measure, of ${split}`);
    const stacks = server.map((name) => STACKS[name]);
    // A stack's jobs end when its pairs are done.
    await Promise.all(
      Array.from({ length: Math.max(jobs, stacks.length) }, (_, job) =>
        this.#runJob(job, stacks[job % stacks.length]!),
      ),
    );
    this.#progress.step(`${this.#done} of ${this.#all} pairs measured, ${this.#failed} failed`);
    if (this.#failed > 0)
      throw new UserError(`${this.#failed} pairs failed: the same command tries them again`);
  }

  async #runJob(job: number, stack: ServerStack): Promise<void> {
    let lab: SessionLab | null = null;
    this.#context.cleanup.add('a lab', () => lab?.down());
    for (let labs = 0, pair = this.#take(stack); pair !== null; pair = this.#take(stack)) {
      try {
        if (lab === null) {
          labs += 1;
          const dir = join(process.env.TMPDIR!, `job-${job}-${labs}`);
          await mkdir(dir);
          const helper = resolve(this.#options.helper);
          lab = await SessionLab.up({
            stack,
            dir,
            helper,
            first: pair.condition,
            signal: this.#context.signal,
          });
        }
        await this.#measure(lab, pair);
        this.#done += 1;
        this.#report(pair);
      } catch (error) {
        this.#context.signal.throwIfAborted();
        this.#failed += 1;
        this.#progress.step(`${pair.condition.name} ${stack}: ${firstLine(error)}`);
        // Whatever is wrong with this lab, the next pair has another one.
        await lab?.down();
        lab = null;
      }
    }
    await lab?.down();
    lab = null;
  }

  async #measure(lab: SessionLab, { condition, stack }: Pair): Promise<void> {
    for (const transport of TRANSPORTS) {
      const key = { condition: condition.name, stack, transport };
      if (!this.#store.has(key)) await this.#store.add(key, condition, await lab.run(condition, transport));
    }
  }

  /** The stack's next pair; null where there is none, or no time. */
  #take(stack: ServerStack): Pair | null {
    this.#context.signal.throwIfAborted();
    const { limitMinutes } = this.#options;
    if (limitMinutes !== undefined && this.#progress.elapsedMs > limitMinutes * 60_000) return null;
    const at = this.#left.findIndex((pair) => pair.stack === stack);
    return at < 0 ? null : this.#left.splice(at, 1)[0]!;
  }

  #report({ condition, stack }: Pair): void {
    const line = `${this.#done} of ${this.#all}: ${condition.name} ${condition.change} ${stack}`;
    if (this.#done % 20 === 0) this.#progress.step(line);
    else this.#progress.detail(line);
  }
}
