import { join } from 'node:path';
import { FlowLab, flowSite } from '@hopwise/bench/flows/flow-lab';
import type { FlowCell } from '@hopwise/bench/flows/grid';
import { table } from '@hopwise/contract/terminal';
import { labObstacle } from '@hopwise/lab/client/lab';
import { UserError } from '@hopwise/lab/command/errors';
import { integer } from '@hopwise/lab/command/option-types';
import type { ProgramContext } from '@hopwise/lab/command/program';
import { makeScratch, removeScratch } from '@hopwise/lab/command/scratch';
import { writeSite } from '@hopwise/lab/sites/write-site';
import { Command } from 'commander';
import { EXPERIMENTS, RESPONSE_BYTES, type WindowExperiment } from './experiments.ts';
import { judgeWindow, type WindowFigures } from './judge-window.ts';
import { learnWindow, type Send } from './learn-window.ts';

interface Options {
  /** The paper's figure; all when absent. */
  figure?: number;
  requests: number;
  seed: number;
  json?: true;
}

interface Learned {
  name: string;
  source: string;
  phases: WindowFigures[];
}

/** `initial-window`: TCP WISE's own variable, learned against the kernel's TCP. */
export function initialWindowCommand(context: ProgramContext): Command {
  return new Command('initial-window')
    .exitOverride()
    .description(
      `learn TCP's initial window for responses of ${RESPONSE_BYTES / 1000} kB on links that change, as in TCP WISE's testbed, beside a window of 10`,
    )
    .option('--requests <n>', 'requests in each of three phases', integer(5, 10_000), 60)
    .option('--figure <n>', 'only the change of this figure of the paper: 7, 8 or 9', integer(7, 9))
    .option('--seed <n>', 'of losses and exploring', integer(0, 10_000), 1)
    .option('--json', 'as JSON')
    .action(async ({ figure, requests, seed, json }: Options) => {
      const obstacle = await labObstacle();
      if (obstacle !== null) throw new UserError(obstacle);
      const learned: Learned[] = [];
      for (const experiment of EXPERIMENTS)
        if (figure === undefined || experiment.source === `Figure ${figure}`)
          learned.push(await measureExperiment(experiment, requests, seed, context));
      process.stdout.write(`${json ? JSON.stringify(learned, null, 1) : showLearned(learned)}\n`);
    });
}

/** Learns the window of one experiment in the lab, by flows of the kernel's TCP. */
export async function measureExperiment(
  experiment: WindowExperiment,
  requests: number,
  seed: number,
  { cleanup, signal, say }: ProgramContext,
): Promise<Learned> {
  const scratch = await makeScratch('run');
  cleanup.add('the site of the flows', () => removeScratch(scratch));
  const site = join(scratch, 'site');
  await writeSite({ site: flowSite([RESPONSE_BYTES]), files: new Map() }, site);
  const cells = experiment.phases.map(
    (network, phase): FlowCell => ({
      id: `${experiment.name}, phase ${phase}`,
      half: 'judged',
      sender: 'cubic',
      bytes: RESPONSE_BYTES,
      initialWindow: 10,
      network,
      expectedMs: 0,
    }),
  );
  const lab = await FlowLab.up(site, cells[0]!, signal);
  cleanup.add('the lab', () => lab.down());
  const send: Send = async (initialWindow, phase, lossSeed) => {
    signal.throwIfAborted();
    const cell = { ...cells[phase]!, initialWindow };
    await lab.prepare(cell);
    const { sentMs, totalMs } = await lab.measure(cell, lossSeed);
    return totalMs - sentMs;
  };
  let done = 0;
  const total = requests * experiment.phases.length;
  const exchanges = await learnWindow(
    experiment,
    requests,
    seed * 100_000,
    send,
    ({ window, ms, usualMs }) => {
      if (++done % 20 === 0)
        say(
          `${experiment.name}: ${done} of ${total}, window ${window} ${Math.round(ms)} ms, window 10 ${Math.round(usualMs)} ms`,
        );
    },
  );
  await lab.down();
  return { name: experiment.name, source: experiment.source, phases: judgeWindow(exchanges) };
}

/** Percentiles in milliseconds, gains in percent against a window of 10 beside. */
export function showLearned(learned: readonly Learned[]): string {
  const rows = learned.flatMap(({ name, source, phases }) =>
    phases.map(({ phase, window, untilLearned, learned: after, all }) => [
      phase === 0 ? `${name} (TCP WISE, ${source})` : '',
      `${phase + 1}`,
      window === null ? '–' : `${window}`,
      `${untilLearned}`,
      after === null ? '–' : after.p80Ms.toFixed(0),
      after === null ? '–' : after.usualP80Ms.toFixed(0),
      after === null ? '–' : percent(after.gain),
      percent(all.gain),
    ]),
  );
  const head = ['', 'phase', 'window', 'learned after', 'p80', 'p80 of 10', 'gain', 'with trials'];
  return table([head, ...rows], { numbers: true });
}

const percent = (share: number): string => `${(100 * share).toFixed(1)}%`;
