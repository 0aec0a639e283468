import type { Prediction } from '@hopwise/contract';
import type { PinGain } from '../../evidence/pin-outcomes.ts';
import { plural, t } from '../../language/translate.ts';
import { predictionOf, type StoredLoad } from '../../storage/loads.ts';
import {
  collectFigures,
  FIGURE_KINDS,
  isH3Unoffered,
  listRows,
  nameKind,
  nameRow,
  readVerifiedTimes,
  type TimesComparison,
} from '../../ui/comparison.ts';
import { createDurationFormat, formatDuration, formatOrigin } from '../../ui/format.ts';
import { writeHeadline } from '../../ui/headline.ts';
import { listFigures, nameSource } from '../../ui/network-view.ts';
import { adviseOrigins } from '../../ui/origin-advice.ts';
import { describeRest } from '../../ui/origin-table.ts';
import { decideBeyondPins } from '../../ui/pin-gain.ts';
import { describeSpread } from '../../ui/times-table.ts';

/** What is written of a load. */
type SummarisedLoad = Pick<
  StoredLoad,
  'recording' | 'prediction' | 'verifiedPrediction' | 'verification' | 'problem'
>;

/**
 * A load as a Markdown text (CommonMark with GitHub's tables): the verdict and what it rests on, load times by protocol, what to do
 * about each origin, the network.
 *
 * @param pinGain what the load's pins gained; null for none
 */
export function writeMarkdown(load: SummarisedLoad, pinGain: PinGain | null = null): string {
  const { url, recordedAt, browser, requests, pltMs } = load.recording;
  const facts = [
    recordedAt && t('loadRecorded', { time: recordedAt }),
    browser,
    plural('requests', requests.length),
    pltMs === null ? t('markdownNeverLoaded') : t('markdownLoaded', { time: formatDuration(pltMs) }),
  ].filter(Boolean);
  const prediction = predictionOf(load);
  return `${[
    `# ${plain(url)}`,
    `${plain(facts.join(', '))}.`,
    ...(prediction ? writePrediction(prediction, load, pinGain) : [plain(load.problem)]),
  ].join('\n\n')}\n`;
}

function writePrediction(
  prediction: Prediction,
  { recording, verification }: SummarisedLoad,
  pinGain: PinGain | null,
): string[] {
  const { decision, notes, fit } = prediction;
  const verified = verification ? readVerifiedTimes(verification, decision) : undefined;
  const reasons = [
    ...(decision.changed === null ? [] : [decision.changed]),
    ...decision.evidence.map(({ text }) => text),
    fit.summary,
    ...fit.notes,
    ...notes,
  ].filter((reason) => reason !== '');
  return [
    `**${plain(writeHeadline(prediction, pinGain))}**`,
    ...(decision.kind === 'act' && decideBeyondPins(decision, pinGain)
      ? [`${plain(decision.verdict)}.`]
      : []),
    ...(reasons.length > 0 ? [reasons.map((reason) => `- ${plain(reason)}`).join('\n')] : []),
    `## ${t('markdownTime')}`,
    writeTimes({ prediction, verified, isH3Hypothetical: isH3Unoffered(recording, prediction) }),
    `## ${t('panelOrigins')}`,
    writeOrigins(prediction),
    `## ${t('columnNetwork')}`,
    writeNetwork(prediction.network),
  ];
}

function writeTimes(comparison: TimesComparison): string {
  const { figures, missingTimes } = collectFigures(comparison);
  const kinds = FIGURE_KINDS.filter((kind) => figures.some((figure) => figure.kind === kind));
  const write = createDurationFormat(Math.max(0, ...figures.map(({ medianMs }) => medianMs)));
  const rows = listRows(comparison);
  const lines = rows.map((row) => [
    nameRow(row, comparison),
    ...kinds.map((kind) => {
      const is = (one: { row: string; kind: string }) => one.row === row && one.kind === kind;
      const figure = figures.find(is);
      if (figure) {
        const spread = describeSpread(figure, write).replace(/^\(|\)$/g, '');
        return `${write(figure.medianMs)}${spread && ` (${spread})`}`;
      }
      return missingTimes.find(is)?.reason ?? '–';
    }),
  ]);
  const table = writeTable([t('columnProtocol'), ...kinds.map(nameKind)], lines);
  return rows.includes('later') ? `${table}\n\n${plain(t('noteLater'))}` : table;
}

function writeOrigins(prediction: Prediction): string {
  const { advised, rest } = adviseOrigins(prediction);
  const table = writeTable(
    [t('columnOrigin'), t('columnAdvice'), t('columnGain'), t('columnWhy')],
    advised.map(({ origin, instruction, gain, reason }) => [
      formatOrigin(origin.origin),
      instruction,
      gain || '–',
      reason,
    ]),
  );
  const others = `${describeRest(rest.length, advised.length + rest.length)}.`;
  return [...(advised.length > 0 ? [table] : []), ...(rest.length > 0 ? [others] : [])].join('\n\n');
}

function writeNetwork(network: Prediction['network']): string {
  const head = [t('columnFigure'), t('columnValue'), t('columnSource')];
  const rows = listFigures(network).map(([name, value, from]) => [name, value, nameSource(from)]);
  return writeTable(head, rows);
}

function writeTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(plain).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** One line of plain text: what a page put into its URLs is no markup. */
function plain(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').replace(/[\\`*_[\]<>|#~&]/g, '\\$&');
}
