import { join } from 'node:path';
import { pairSessions, replaySession, type SessionPair } from '@hopwise/bench/transport/replay-sessions';
import { mean } from '@hopwise/contract';
import { ROOT } from '@hopwise/lab/paths';
import { readSessions } from '@hopwise/lab/requests/session-row';
import type { Finding } from '../claim.ts';

const TABLE = 'model/data/requests.jsonl.gz';
const PERIODS_S = [0.5, 1, 2, 4];

/** What a client does that decides once a period. */
interface PeriodFigures {
  periodS: number;
  /** Mean number in sessions on networks that do not change. */
  switches: number;
  /** Mean time of a request that is saved over always TCP where a burst of losses begins in mid-session, milliseconds. */
  savedMs: number;
}

/**
 * Replays the training sessions of `npm run lab -- requests` with the chooser of `auto` pins and several periods. Bursts of losses are the change
 * after which QUIC, which the client does not use yet, saves most.
 */
export async function measurePeriods(): Promise<Finding> {
  const pairs = pairSessions(await readSessions(join(ROOT, TABLE))).filter(({ split }) => split === 'train');
  const steady = pairs.filter(({ change }) => change === 'none');
  const changing = pairs.filter(({ change }) => change === 'loss-burst');
  const figures = PERIODS_S.map((periodS): PeriodFigures => {
    const replay = (pair: SessionPair) =>
      replaySession(pair, { tries: 'as-shipped', reportsEveryMs: 1000 * periodS });
    return {
      periodS,
      switches: mean(steady.map((pair) => replay(pair).switches)),
      savedMs: mean(
        changing.map((pair) => replaySession(pair, { always: 'tcp' }).meanMs - replay(pair).meanMs),
      ),
    };
  });
  return {
    kind: 'measured',
    hopwise: `the chooser of auto pins, replayed on ${steady.length} sessions on steady networks and ${changing.length} in which a burst of losses begins; periods alone`,
    real: {
      source: 'lab',
      value: leastStep(figures),
      min: 0,
      bounds: 'with each longer period fewer switches on steady networks, and less saved after the change',
      text: figures
        .map(
          ({ periodS, switches, savedMs }) =>
            `${periodS} s: ${switches.toFixed(2)} switches a session, ${savedMs.toFixed(0)} ms a request saved`,
        )
        .join('; '),
    },
  };
}

/** The least share by which a longer period has fewer switches, or saves less; negative where one of them has more or saves more. */
export function leastStep(figures: readonly PeriodFigures[]): number {
  const [first] = figures;
  return Math.min(
    ...figures
      .slice(1)
      .flatMap(({ switches, savedMs }, index) => [
        (figures[index]!.switches - switches) / first!.switches,
        (figures[index]!.savedMs - savedMs) / first!.savedMs,
      ]),
  );
}
