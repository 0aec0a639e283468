/** How often the decision from an emulated recording is sure of its best protocol, how often it is right then, and what it costs. */
import { groupBy, mean } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import { CLEAR_LEAD } from '@hopwise/lab/judge/cell-ground-truth';
import { PROTOCOLS, type Protocol, predict } from '@hopwise/pageload-emulator';
import { KNOWLEDGE, type KnowledgeKind, knownOf } from './judge-cell.ts';
import { FORMS, type Form, recordLoad } from './record-load.ts';
import { type TrueCell, trueTime } from './true-load.ts';

/** A decision beside the true load times. */
export interface JudgedDecision {
  form: Form;
  knowledge: KnowledgeKind;
  recorded: Protocol;
  /** Whether the fastest protocol leads by more than 5%. */
  isClear: boolean;
  isDecided: boolean;
  /** Whether the best protocol is the fastest, or within 5% of it. */
  isRight: boolean;
  /** Its true time over that of the fastest, less 1; null where the network blocks it. */
  regret: number | null;
}

/** Judges the decisions from a cell's loads under each protocol, recorded in each form. */
export function judgeDecisions(cell: TrueCell): JudgedDecision[] {
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || cell.path.udp.kind !== 'blocked');
  const truth = new Map(usable.map((protocol) => [protocol, trueTime(cell, protocol)]));
  const [fastestMs, nextMs] = [...truth.values()].sort((a, b) => a - b) as [number, number];
  return usable.flatMap((recorded) =>
    FORMS.flatMap((form) => {
      const recording = recordLoad(cell, recorded, form);
      return KNOWLEDGE.map((knowledge): JudgedDecision => {
        const { best, decided } = predict(recording, { network: knownOf(cell, knowledge) });
        const bestMs = truth.get(best);
        return {
          ...{ form, knowledge, recorded },
          isClear: nextMs > (1 + CLEAR_LEAD) * fastestMs,
          isDecided: decided,
          isRight: bestMs !== undefined && bestMs <= (1 + CLEAR_LEAD) * fastestMs,
          regret: bestMs === undefined ? null : bestMs / fastestMs - 1,
        };
      });
    }),
  );
}

export function renderDecisions(decisions: readonly JudgedDecision[]): string {
  const percent = (values: readonly number[]) =>
    values.length === 0 ? '' : `${(100 * mean(values)).toFixed(1)}%`;
  const shareOf = (own: readonly JudgedDecision[], is: (decision: JudgedDecision) => boolean) =>
    percent(own.map((decision) => Number(is(decision))));
  const groups = groupBy(decisions, ({ form, knowledge, recorded }) => `${form} ${knowledge} ${recorded}`);
  const rows = [...groups].map(([name, own]) => [
    name,
    `${own.length}`,
    shareOf(own, ({ isClear }) => isClear),
    shareOf(own, ({ isDecided }) => isDecided),
    shareOf(
      own.filter(({ isDecided }) => isDecided),
      ({ isRight }) => isRight,
    ),
    percent(own.flatMap(({ regret }) => regret ?? [])),
    `${own.filter(({ regret }) => regret === null).length}`,
  ]);
  const header = ['form, known, recorded', 'n', 'clear', 'decided', 'right', 'regret', 'blocked'];
  return `Decisions\n${table([header, ...rows.sort()], { numbers: true })}\n`;
}
