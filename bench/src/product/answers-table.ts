import { median, PROTOCOLS, type Protocol, quantile } from '@hopwise/contract';
import { table } from '@hopwise/contract/terminal';
import { seconds } from './figure-text.ts';
import type { Answer } from './judge-answers.ts';

/** The answers to the kept loads in words, expected times before measured ones; '' without any. */
export function showAnswers(answers: readonly Answer[]): string {
  if (answers.length === 0) return '';
  const rows = answers.map((answer) => [
    answer.network,
    answer.page,
    `${answer.visit}`,
    answer.arm,
    seconds(answer.recordedMs),
    answer.explainedMs === null ? '–' : seconds(answer.explainedMs),
    answer.understood ? 'yes' : 'no',
    ...PROTOCOLS.map((protocol) => showTimes(answer, protocol)),
    answer.verdict,
  ]);
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
  const errors = PROTOCOLS.flatMap((protocol) => {
    const own = errorsOf(answers, protocol);
    if (own.length === 0) return [];
    return [`${protocol} ${percent(median(own))} and ${percent(quantile(own, 0.9))} of ${own.length}`];
  });
  const header = [
    'network',
    'page',
    'visit',
    'arm',
    'recorded',
    'explained',
    'understood',
    ...PROTOCOLS.map((protocol) => `${protocol}, measured`),
    'answer',
  ];
  return [
    'Answers to the kept loads, each from that load alone. Times that are expected under each protocol, and those that the arm of that name took at the same visit.',
    ...(errors.length > 0 ? [`Errors, median and 90th percentile: ${errors.join(', ')}.`] : []),
    '',
    table([header, ...rows]),
    '',
  ].join('\n');
}

const timesOf = ({ protocols }: Answer, wanted: Protocol) =>
  protocols.find(({ protocol }) => protocol === wanted);

function showTimes(answer: Answer, protocol: Protocol): string {
  const times = timesOf(answer, protocol);
  return times === undefined ? '–' : `${seconds(times.expectedMs)}, ${seconds(times.measuredMs)}`;
}

/** Errors of the expected times as fractions of the measured ones. */
const errorsOf = (answers: readonly Answer[], protocol: Protocol): number[] =>
  answers.flatMap((answer) => {
    const times = timesOf(answer, protocol);
    return times === undefined ? [] : [Math.abs(times.expectedMs / times.measuredMs - 1)];
  });
