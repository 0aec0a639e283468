/** Judges what is read out of the recordings of a folder of measured loads. */
import { isTried, RULES, ruleChoice } from '@hopwise/lab/judge/rules';
import type { Selection } from '../cells.ts';
import { type MeasuredCell, measuredCells } from './measured-cell.ts';
import { floorOf, spreadsOf } from './noise.ts';
import { type CellNoise, type ReadingFigures, type RuleRegret, readingFigures } from './reading-figures.ts';
import { judgedRegret, type ReadingScore, scoreReading } from './score-cell.ts';

interface Readings {
  figures: ReadingFigures;
  scores: ReadingScore[];
}

/**
 * Predicts from the first sound recording under each protocol of each cell.
 *
 * @param onCell is called before each cell; what it throws ends the run
 */
export async function judgeReadings(
  dir: string,
  selection: Selection = {},
  onCell: (cell: string) => void = () => {},
): Promise<Readings> {
  const scores: ReadingScore[] = [];
  const rules: RuleRegret[] = [];
  const noise: CellNoise[] = [];
  for await (const cell of measuredCells(dir, selection)) {
    onCell(`${cell.page} on ${cell.network}`);
    rules.push(...ruleRegrets(cell));
    noise.push({ isLossy: isLossy(cell), floor: floorOf(cell.loads), spreads: spreadsOf(cell.loads) });
    for (const load of firstByProtocol(cell)) {
      scores.push(scoreReading(cell, load));
      // Signals are only handled between turns of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return { figures: readingFigures(scores, rules, noise), scores };
}

const isLossy = ({ path: { loss, udp } }: MeasuredCell): boolean => loss > 0 || udp.kind === 'lossy';

function firstByProtocol({ recorded }: MeasuredCell): MeasuredCell['recorded'] {
  const inOrder = recorded.toSorted((a, b) => a.seed - b.seed);
  return inOrder.filter((load, at) => inOrder.findIndex(({ protocol }) => protocol === load.protocol) === at);
}

function ruleRegrets({ page, network, link, loads }: MeasuredCell): RuleRegret[] {
  return RULES.flatMap((rule) => {
    const choice = ruleChoice(rule, link);
    return isTried(loads, choice) ? [{ rule, page, network, regret: judgedRegret(loads, choice) }] : [];
  });
}
