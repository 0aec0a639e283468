import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { firstLine } from '@hopwise/contract';
import { UserError } from '@hopwise/lab/command/errors';
import { parsePcwnd, type WindowLoss } from '@hopwise/pageload-emulator/econ';

/** Loss by congestion window of one network, as ECON's authors released it. */
export interface LossCurve {
  network: string;
  congestionControl: 'cubic' | 'reno';
  /** Parallel connections: ECON's npc. */
  connections: number;
  rows: WindowLoss[];
}

const NAME = /^(\w+)_(cubic|reno)_npc(\d+)\.csv\.gz$/;
/** Share of the windows at either end that counts as small or large. */
const END = 0.1;
/** Sums in another order differ by less. */
const ROUNDING = 1 + 1e-9;

/**
 * Reads NETWORK_CONTROL_npcN.csv.gz files; others are left alone.
 *
 * @returns null where there is no such folder
 * @throws UserError naming the file and what was expected in it
 */
export async function readCurves(dir: string): Promise<LossCurve[] | null> {
  const names = await readdir(dir).catch(() => null);
  if (names === null) return null;
  const curves: LossCurve[] = [];
  for (const name of names.sort()) {
    const [, network, congestionControl, connections] = NAME.exec(name) ?? [];
    if (network === undefined) continue;
    const path = join(dir, name);
    try {
      const rows = parsePcwnd(gunzipSync(await readFile(path)).toString());
      curves.push({
        network,
        congestionControl: congestionControl as LossCurve['congestionControl'],
        connections: Number(connections),
        rows,
      });
    } catch (error) {
      throw new UserError(`${path}: ${firstLine(error)}`, 2);
    }
  }
  return curves;
}

/** Whether loss is higher in the smallest and in the largest tenth of the windows than in their middle half. */
export function isHighAtBothEnds({ rows }: LossCurve): boolean {
  const end = Math.max(1, Math.floor(rows.length * END));
  const quarter = Math.floor(rows.length / 4);
  const middle = meanLoss(rows.slice(quarter, rows.length - quarter)) * ROUNDING;
  return meanLoss(rows.slice(0, end)) > middle && meanLoss(rows.slice(-end)) > middle;
}

/** The window in the middle of those that the curve covers, segments. */
export const middleWindow = ({ rows }: LossCurve): number => rows[Math.floor(rows.length / 2)]!.cwnd;

const meanLoss = (rows: readonly WindowLoss[]): number =>
  rows.reduce((sum, { p }) => sum + p, 0) / rows.length;
