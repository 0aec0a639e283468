import { printable, table } from '@hopwise/contract/terminal';
import {
  CAUSE_WORDS,
  CAUSES,
  type CriticalStep,
  type Explanation,
  PROTOCOL_NAME,
  PROTOCOLS,
  type ProtocolExplanation,
} from '@hopwise/pageload-emulator';
import { type ListFlags, rowLimit } from './options.ts';
import { paint } from './output.ts';
import { ms, reasonsOf, showFit, showWhatIf } from './show.ts';

/** Shorter steps are left out. */
const MIN_STEP_MS = 1;
/** Causes of a smaller share of a step are left out. */
const MIN_CAUSE_SHARE = 0.05;
/** Steps, and connections, that are shown of a load unless more are asked for. */
const USUAL_ROWS = 12;

/** An explanation for a person. */
export function showExplanation(explanation: Explanation, flags: ListFlags = {}): string {
  const { page, protocols, notes, whatIf, fit } = explanation;
  return [
    printable(page.url, 100),
    paint('bold', `${printable(explanation.decision.verdict, 200)}.`),
    ...showFit(fit),
    ...explanation.decision.evidence.map(({ text }) => printable(text, 300)),
    ...reasonsOf(explanation),
    ...notes,
    ...(whatIf ? ['', showWhatIf(whatIf)] : []),
    ...PROTOCOLS.flatMap((protocol) => {
      const explained = protocols[protocol];
      if ('unavailable' in explained) return ['', `${PROTOCOL_NAME[protocol]}: ${explained.unavailable}`];
      return [
        '',
        paint('bold', `${PROTOCOL_NAME[protocol]}: ${range(explained)}`),
        ...showProtocol(explained, rowLimit(flags, USUAL_ROWS)),
      ];
    }),
  ].join('\n');
}

const range = ({ pltMs, low, high }: ProtocolExplanation): string =>
  `${ms(pltMs)}, four of five loads between ${ms(low)} and ${ms(high)}`;

function showProtocol({ story, criticalPath, connections }: ProtocolExplanation, rows: number): string[] {
  const shown = [...connections].sort((a, b) => b.bytes - a.bytes).slice(0, rows);
  const steps = criticalPath.filter((step) => lengthOf(step) >= MIN_STEP_MS);
  const longest = new Set(steps.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, rows));
  const left = steps.filter((step) => !longest.has(step));
  const rest = connections.length - shown.length;
  return [
    ...story.map((sentence) => printable(sentence, 300)),
    '',
    table([
      ['>from', '>to', 'what the load event waited for', 'time spent, ms'],
      ...steps
        .filter((step) => longest.has(step))
        .map((step) => [ms(step.fromMs), ms(step.toMs), what(step), spent(step)]),
    ]),
    ...(left.length === 0
      ? []
      : [
          `and ${left.length} shorter steps, ${ms(left.reduce((sum, step) => sum + lengthOf(step), 0))} together (--all shows all)`,
        ]),
    '',
    table([
      ['connection to', '>from', '>ready', '>requests', '>kB', '>lost', '>timers'],
      ...shown.map(({ origin, openingMs, openMs, requests, bytes, lost, timeouts }) => [
        printable(origin, 48),
        ms(openingMs),
        openMs === null ? 'never' : ms(openMs),
        String(requests),
        String(Math.round(bytes / 1000)),
        String(lost.random + lost.queue + lost.policed),
        String(timeouts),
      ]),
    ]),
    ...(rest > 0 ? [`and ${rest} more (--all shows all)`] : []),
  ];
}

const lengthOf = ({ fromMs, toMs }: CriticalStep): number => toMs - fromMs;

const what = ({ kind, url }: CriticalStep): string =>
  kind === 'compute' ? `executing ${printable(url, 56)}` : printable(url, 66);

/** What takes more than a small share of a step, the longest first. */
const spent = ({ causes, ...step }: CriticalStep): string =>
  CAUSES.filter((cause) => (causes[cause] ?? 0) > MIN_CAUSE_SHARE * (step.toMs - step.fromMs))
    .sort((a, b) => causes[b]! - causes[a]!)
    .map((cause) => `${CAUSE_WORDS[cause]} ${Math.round(causes[cause]!)}`)
    .join(', ');
