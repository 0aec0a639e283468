/** `npm run lab -- gauntlet`: measures cells drawn at random. */
import { join, resolve } from 'node:path';
import { firstLine } from '@hopwise/contract';
import { Command, Option } from 'commander';
import { serverOption } from '../client/server-option.ts';
import type { ServerStack } from '../client/server-stack.ts';
import { UserError } from '../command/errors.ts';
import { integer, list } from '../command/option-types.ts';
import { makeOutputFolder } from '../command/output-folder.ts';
import type { ProgramContext } from '../command/program.ts';
import type { LoadProtocol, View } from '../ground-truth/ground-truth.ts';
import { planCells } from '../matrix/matrix.ts';
import { factsOf, type MatrixPage } from '../matrix/matrix-page.ts';
import { measurePlan } from '../matrix/measure-plan.ts';
import { servedNodes } from '../replay/served-nodes.ts';
import { type GeneratedSite, writeSite } from '../sites/write-site.ts';
import { cellsOf, type DrawnCell, drawCells } from './cells.ts';
import { networkTitle } from './draw-network.ts';
import type { DrawnPage } from './draw-page.ts';
import { serversOn } from './draw-servers.ts';
import { knownPage, writeKnownPages } from './known-pages.ts';
import { drawRecordedPage, splitOfFile } from './recorded-page.ts';
import { SPLITS, type Split } from './splits.ts';

interface Options {
  split: Split;
  cells: number;
  seed: number;
  recorded: string[];
  server: ServerStack;
  out?: string;
  timeout: number;
  quietLimit: number;
  limitMinutes?: number;
  repeatDisturbed: boolean;
  plan: boolean;
}

/** Each cell has few loads, so that many cells are measured. */
const FORCED: LoadProtocol[] = ['h1', 'h2', 'h3'];
const FORCED_SEEDS = [1, 2, 3];
/** Further recordings to predict from. */
const NATURAL_SEEDS = [1, 2];

export function gauntletCommand(context: ProgramContext): Command {
  return new Command('gauntlet')
    .exitOverride()
    .description(
      'measures cells drawn at random: generated pages, networks, servers and processors; the same command continues an interrupted run',
    )
    .addOption(
      new Option('--split <name>', 'train, validation and test have no page, network or server in common')
        .choices(SPLITS)
        .makeOptionMandatory(),
    )
    .option('--cells <n>', 'pages times networks, two networks for each page', integer(1, 10_000), 40)
    .option('--seed <n>', 'of the draws', integer(0, 2 ** 31), 1)
    .addOption(
      new Option(
        '--recorded <files>',
        'also structures of these HARs or recordings, separated by commas: those that belong to the split by their names',
      )
        .argParser(list)
        .default([], 'none'),
    )
    .addOption(serverOption())
    .option('--out <dir>', 'folder of the results (default: out/gauntlet/<split>, with -nginx behind it)')
    .option('--timeout <s>', 'time limit for the load event', integer(1, 600), 60)
    .option('--quiet-limit <s>', 'how long to wait for a quiet machine', integer(0, 3600), 60)
    .option('--repeat-disturbed', 'repeat loads that were kept although disturbed', false)
    .option('--limit-minutes <n>', 'start no load after this many minutes', integer(1, 100_000))
    .option('--plan', 'only print what would be measured and how long it may take', false)
    .action(async (options: Options) => {
      await measureGauntlet(options, context);
    });
}

async function measureGauntlet(options: Options, context: ProgramContext): Promise<void> {
  const { split, seed } = options;
  const out = options.out ?? join('out/gauntlet', options.server === 'go' ? split : `${split}-nginx`);
  const dir = resolve(out);
  const cells = [...drawCells(split, seed, options.cells), ...(await recordedCells(options))];
  await makeOutputFolder(out);
  const drawn = [...new Set(cells.map(({ page }) => page))].map((page) => ({
    ...page,
    origins: serversOn(options.server, page.origins),
  }));
  await writeKnownPages(dir, {
    format: 'hopwise-gauntlet',
    version: 1,
    split,
    seed,
    stack: options.server,
    pages: Object.fromEntries(drawn.map((page) => [page.name, knownPage(page)])),
  });
  const pages: MatrixPage[] = [];
  for (const page of drawn) {
    context.signal.throwIfAborted();
    pages.push(await openDrawnPage(page, dir));
  }
  const named = cells.map(({ page, name }) => ({ page: page.name, network: name }));
  const views: View[] = ['cold'];
  const planned = [
    ...planCells(named, { protocols: ['natural'], views, seeds: NATURAL_SEEDS }),
    ...planCells(named, { protocols: FORCED, views, seeds: FORCED_SEEDS }),
  ];
  await measurePlan(
    {
      title: `${cells.length} cells of ${split}, seed ${seed}, ${pages.length} pages`,
      out,
      pages,
      networks: Object.fromEntries(
        cells.map(({ name, network }) => [name, { title: networkTitle(network), network }]),
      ),
      // Cell by cell; natural loads first: predictions can be made while the forced ones are measured.
      loads: named.flatMap(({ network }) => planned.filter((load) => load.network === network)),
      protocols: [...FORCED, 'natural'],
      views,
      seeds: FORCED_SEEDS,
      // Drawn pages configure all of their origins.
      server: {
        stack: options.server,
        congestionControl: 'cubic',
        initialWindow: 10,
        priorities: 'honoured',
      },
      assignmentFile: null,
      ipVersion: 4,
      timeoutMs: options.timeout * 1000,
      quietLimitMs: options.quietLimit * 1000,
      repeatDisturbed: options.repeatDisturbed,
      ...(options.limitMinutes === undefined ? {} : { limitMs: options.limitMinutes * 60_000 }),
      onlyPlan: options.plan,
    },
    context,
  );
}

async function recordedCells({ split, seed, recorded }: Options): Promise<DrawnCell[]> {
  const cells: DrawnCell[] = [];
  for (const file of recorded.filter((each) => splitOfFile(each) === split)) {
    const page = await drawRecordedPage(split, seed, file);
    try {
      cells.push(...cellsOf(page, split, seed));
    } catch (error) {
      if (error instanceof RangeError) throw new UserError(`${file}: ${error.message}`, 2);
      throw error;
    }
  }
  return cells;
}

async function openDrawnPage(page: DrawnPage, out: string): Promise<MatrixPage> {
  const dir = join(out, 'sites', page.name);
  const generated = drawnSite(page);
  await writeSite(generated, dir).catch((error) => {
    throw new UserError(`${dir}: the page cannot be written: ${firstLine(error)}`);
  });
  const source = { name: page.name, dir, site: generated.site };
  return { ...source, cpuSlowdown: page.cpuSlowdown, facts: await factsOf(source, page.family) };
}

/** The page as the lab serves it. */
export function drawnSite({ name, nodes, origins }: DrawnPage): GeneratedSite {
  const { resources, files } = servedNodes(nodes, 1);
  const [document] = nodes;
  if (document === undefined) throw new RangeError(`${name}: expected requests`);
  return {
    site: { format: 'hopwise-site', version: 1, name, entry: document.url, origins, resources },
    files,
  };
}
