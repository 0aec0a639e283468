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
import { ms, showFit, showNote, showWhatIf } from './show.ts';

/** Shorter steps are left out. */
const MIN_STEP_MS = 1;
/** Connections that are shown, those with most bytes. */
const MAX_CONNECTIONS = 12;

/** An explanation for a person. */
export function showExplanation(explanation: Explanation): string {
  const { page, protocols, reasons, assigned, notes, whatIf, fit } = explanation;
  return [
    printable(page.url, 100),
    `${printable(explanation.decision.verdict, 200)}.`,
    ...showFit(fit),
    ...reasons,
    assigned.reason,
    ...notes.map(showNote),
    ...(whatIf ? ['', showWhatIf(whatIf)] : []),
    ...PROTOCOLS.flatMap((protocol) => {
      const explained = protocols[protocol];
      if ('unavailable' in explained) return ['', `${PROTOCOL_NAME[protocol]}: ${explained.unavailable}`];
      return ['', `${PROTOCOL_NAME[protocol]}: ${range(explained)}`, ...showProtocol(explained)];
    }),
  ].join('\n');
}

const range = ({ pltMs, low, high }: ProtocolExplanation): string =>
  `${ms(pltMs)}, four of five loads between ${ms(low)} and ${ms(high)}`;

function showProtocol({ story, criticalPath, connections }: ProtocolExplanation): string[] {
  const shown = [...connections].sort((a, b) => b.bytes - a.bytes).slice(0, MAX_CONNECTIONS);
  const rest = connections.length - shown.length;
  return [
    ...story.map((sentence) => printable(sentence, 300)),
    '',
    table([
      ['>from', '>to', 'what the load event waited for', 'time spent'],
      ...criticalPath
        .filter(({ fromMs, toMs }) => toMs - fromMs >= MIN_STEP_MS)
        .map((step) => [ms(step.fromMs), ms(step.toMs), what(step), spent(step)]),
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
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ];
}

const what = ({ kind, url }: CriticalStep): string =>
  kind === 'compute' ? `executing ${printable(url, 56)}` : printable(url, 66);

const spent = ({ causes }: CriticalStep): string =>
  CAUSES.filter((cause) => (causes[cause] ?? 0) >= MIN_STEP_MS)
    .map((cause) => `${CAUSE_WORDS[cause]} ${Math.round(causes[cause]!)}`)
    .join(', ');
