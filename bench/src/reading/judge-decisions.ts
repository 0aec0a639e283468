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
  const truth = trueTimes(cell);
  const [fastestMs, nextMs] = [...truth.values()].sort((a, b) => a - b) as [number, number];
  return [...truth.keys()].flatMap((recorded) =>
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

/** Fixed rules, of which the last knows the network's treatment of UDP. */
const RULES = ['always h1', 'always h2', 'always h3', 'h3 unless UDP is hindered'] as const;

/** What a fixed rule costs on a cell. */
export interface JudgedRule {
  rule: (typeof RULES)[number];
  /** As of a decision. */
  regret: number | null;
}

/** Judges what the rules that decisions compete with cost on a cell. */
export function judgeRules(cell: TrueCell): JudgedRule[] {
  const { kind } = cell.path.udp;
  const unlessHindered = kind === 'policed' || kind === 'blocked' ? 'h2' : 'h3';
  const chosen: Protocol[] = ['h1', 'h2', 'h3', unlessHindered];
  const truth = trueTimes(cell);
  const fastestMs = Math.min(...truth.values());
  return RULES.map((rule, index) => {
    const ms = truth.get(chosen[index]!);
    return { rule, regret: ms === undefined ? null : ms / fastestMs - 1 };
  });
}

/** The true load time under each protocol that the network lets pass, milliseconds. */
function trueTimes(cell: TrueCell): Map<Protocol, number> {
  const usable = PROTOCOLS.filter((protocol) => protocol !== 'h3' || cell.path.udp.kind !== 'blocked');
  return new Map(usable.map((protocol) => [protocol, trueTime(cell, protocol)]));
}

export function renderDecisions(
  decisions: readonly JudgedDecision[],
  rules: readonly JudgedRule[] = [],
): string {
  const percent = (values: readonly number[]) =>
    values.length === 0 ? '' : `${(100 * mean(values)).toFixed(1)}%`;
  const shareOf = (own: readonly JudgedDecision[], is: (decision: JudgedDecision) => boolean) =>
    percent(own.map((decision) => Number(is(decision))));
  const costOf = (own: readonly Pick<JudgedDecision, 'regret'>[]) => [
    percent(own.flatMap(({ regret }) => regret ?? [])),
    `${own.filter(({ regret }) => regret === null).length}`,
  ];
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
    ...costOf(own),
  ]);
  const ruleRows = RULES.flatMap((rule) => {
    const own = rules.filter((each) => each.rule === rule);
    return own.length === 0 ? [] : [[rule, `${own.length}`, '', '', '', ...costOf(own)]];
  });
  const header = ['form, known, recorded', 'n', 'clear', 'decided', 'right', 'regret', 'blocked'];
  return `Decisions\n${table([header, ...rows.sort(), ...ruleRows], { numbers: true })}\n`;
}
