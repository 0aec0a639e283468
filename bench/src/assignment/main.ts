/**
 * How close the search for the joint assignment comes to trying all assignments, and what it costs.
 *
 * With random losses, trying all assignments on a few seeds favours those that are lucky there; both are therefore judged on
 * fresh seeds.
 */

import { mean, median } from '@hopwise/contract';
import { integer } from '@hopwise/lab/command/option-types';
import { choicesOf, nearestUniform } from '../../../pageload-emulator/dist/choose/choices.js';
import { chooseJointly } from '../../../pageload-emulator/dist/choose/joint-assignment.js';
import {
  type Assignment,
  emulate,
  type NetworkPath,
  PROTOCOLS,
} from '../../../pageload-emulator/dist/index.js';
import { LoadTimes } from '../../../pageload-emulator/dist/scenarios/load-times.js';
import {
  type GeneratedPage,
  generatedPage,
  NETWORKS,
} from '../../../pageload-emulator/test/support/generated-pages.ts';
import { benchCommand, parseOrExit } from '../bench-command.ts';

/** The number that a prediction uses where losses are frequent. */
const SEEDS = 24;
const FRESH_SEEDS = 100;
const LARGE = { origins: 20, requests: 500 };
const ROUNDS = 9;

const command = benchCommand(
  'assignment',
  'Judges the search for the best assignment of protocols to origins by trying all assignments on generated pages.',
).argument('[pages]', 'pages for each network', integer(1, 10_000), 10);
const [pages] = parseOrExit(command).processedArgs as [number];

type Time = (assignment: Assignment, first: number, count: number) => number;

/** Geometric mean over seeds. */
function timesOn({ graph, servers }: GeneratedPage, path: NetworkPath): Time {
  return (assignment, first, count) => {
    let sum = 0;
    for (let seed = first; seed < first + count; seed++) {
      sum += Math.log(emulate(graph, path, servers, assignment, { seed }).pltMs);
    }
    return Math.exp(sum / count);
  };
}

function searched({ graph, servers }: GeneratedPage, path: NetworkPath, seeds: number) {
  const scenarios = Array.from({ length: seeds }, (_, index) => ({ path, servers, seed: index + 1 }));
  const choices = choicesOf(graph, servers, PROTOCOLS);
  const times = new LoadTimes(graph);
  const runs = PROTOCOLS.map((protocol) => ({ protocol }));
  const { assignment } = chooseJointly({ graph, choices, runs, scenarios, thorough: true }, times);
  const starts = PROTOCOLS.map((protocol) => nearestUniform(choices, protocol));
  return { assignment, starts, emulations: times.emulations };
}

function bestOfAll(origins: readonly string[], time: (assignment: Assignment) => number): Assignment {
  let best: Assignment = {};
  let bestMs = Number.POSITIVE_INFINITY;
  for (let index = 0; index < PROTOCOLS.length ** origins.length; index++) {
    const assignment = Object.fromEntries(
      origins.map((origin, digit) => [origin, PROTOCOLS[Math.floor(index / 3 ** digit) % 3]!]),
    );
    const ms = time(assignment);
    if (ms < bestMs) {
      best = assignment;
      bestMs = ms;
    }
  }
  return best;
}

const percent = (share: number) => `${(100 * share).toFixed(2)}%`;

for (const [name, path] of Object.entries(NETWORKS)) {
  const gaps: number[] = [];
  const uniformGaps: number[] = [];
  const emulations: number[] = [];
  const seeds = path.loss > 0 ? SEEDS : 1;
  for (let seed = 1; seed <= pages; seed++) {
    const origins = 2 + (seed % 5);
    const page = generatedPage(seed, origins, 20 + 8 * origins);
    const time = timesOn(page, path);
    const { assignment, starts, emulations: taken } = searched(page, path, seeds);
    const all = bestOfAll(page.graph.origins, (each) => time(each, 1, seeds));
    const judged = (each: Assignment) => (path.loss > 0 ? time(each, 1_000, FRESH_SEEDS) : time(each, 1, 1));
    gaps.push(judged(assignment) / judged(all) - 1);
    uniformGaps.push(Math.min(...starts.map(judged)) / judged(all) - 1);
    emulations.push(taken);
  }
  console.log(
    `${name}: ${percent(mean(gaps))} slower than the best of all assignments (at most ${percent(Math.max(...gaps))}), ` +
      `the best single protocol ${percent(mean(uniformGaps))}; ${mean(emulations).toFixed(0)} emulations, at most ${Math.max(...emulations)}; ${pages} pages of 2 to 6 origins`,
  );
}

for (const name of ['cable', 'lossy']) {
  const page = generatedPage(1, LARGE.origins, LARGE.requests);
  const taken: number[] = [];
  let emulations = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    emulations = searched(page, NETWORKS[name]!, name === 'lossy' ? SEEDS : 1).emulations;
    taken.push(performance.now() - startedAt);
  }
  console.log(
    `${LARGE.requests} requests, ${LARGE.origins} origins, ${name}: ${median(taken).toFixed(0)} ms, ${emulations} emulations`,
  );
}
