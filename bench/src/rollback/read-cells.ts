import { UserError } from '@hopwise/lab/command/errors';
import { readLoads, readMatrix } from '@hopwise/lab/ground-truth/store';
import { judgeLoads, type LoadFacts } from '@hopwise/lab/judge/cell-loads';
import type { CellTimes } from './switches.ts';

/** A protocol with fewer loads shows too little of how they vary. */
const MIN_LOADS = 3;

/**
 * Reads the forced protocols' cold load times out of a folder of measured loads. Protocols with a load that did not end are left out.
 *
 * @throws UserError (exit code 2) with one line when the folder has no loads, or none with two protocols
 */
export async function readCellTimes(dir: string): Promise<CellTimes[]> {
  const matrix = await readMatrix(dir);
  if (matrix === null)
    throw new UserError(`${dir}: expected a folder of measured loads, there is no matrix.json`, 2);
  const loads: LoadFacts[] = [];
  for await (const { page, network, protocol, assignment, view, seed, disturbed, outcome } of readLoads(
    dir,
  )) {
    if (view !== 'cold' || protocol === 'natural' || protocol === 'assigned') continue;
    const facts = outcome.ok
      ? { ok: true as const, pltMs: outcome.pltMs, proved: outcome.proved, failed: outcome.failed }
      : outcome;
    loads.push({
      page,
      network,
      protocol,
      view,
      seed,
      disturbed,
      outcome: facts,
      ...(assignment === undefined ? {} : { assignment }),
    });
  }
  const cells = judgeLoads(loads, matrix.networks).cells.map(({ page, network, pltMs }) => ({
    cell: `${page} on ${network}`,
    times: new Map(
      [...pltMs]
        .map(([protocol, bySeed]) => [protocol, [...bySeed.values()]] as const)
        .filter(([, times]) => times.length >= MIN_LOADS && times.every(Number.isFinite)),
    ),
  }));
  const usable = cells.filter(({ times }) => times.size >= 2);
  if (usable.length === 0)
    throw new UserError(
      `${dir}: expected a page on a network with at least ${MIN_LOADS} loads of two protocols, there is none`,
      2,
    );
  return usable;
}
