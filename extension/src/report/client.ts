/** Runs inside `report.html`: draws the report from the JSON that the file carries. */

import { PROTOCOL_NAME } from '@hopwise/contract';
import { PROTOCOLS, type Protocol, type Unavailable } from '@hopwise/pageload-emulator';
import { currentLocale, t, useLanguage } from '../language/translate.ts';
import {
  type ComparisonRow,
  createDurationFormat,
  describeRatio,
  findHeadlineTimes,
  formatDurations,
  isH3Unoffered,
  type Observed,
  predictedWaterfall,
  recordedWaterfall,
  renderNetwork,
  renderOriginTable,
  renderProtocolChart,
  renderSummary,
  renderTimesTable,
  renderWaterfall,
  visible,
  type Waterfall,
} from '../ui/index.ts';
import { describeLabNetwork, describeLabPlace, describeLabProofs, describeLabRun } from './lab-words.ts';
import { isUnavailable, type RepeatedSpread, type Report, type ReportWords } from './report.ts';
import '../ui/theme.css';
import './report.css';

const read = (id: string): unknown => JSON.parse(document.getElementById(id)?.textContent ?? '');

const report = read('data') as Report;
const { language, messages } = read('words') as ReportWords;
useLanguage(language, messages);
const main = document.getElementById('report') as HTMLElement;

type Content = Node | string;

/** In pixels. A window of 320 has this much between its cards' edges. */
const MIN_CHART_WIDTH = 258;
/** Like `Fri, 20 Nov 2026, 13:00 UTC`: reports are read by others, and elsewhere. */
const TIME_FORMAT: Intl.DateTimeFormatOptions = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
  timeZoneName: 'short',
};
/** Padding and borders of `#report` and of a card, left and right; see report.css. */
const CARD_EDGES = window.matchMedia('(max-width: 560px)').matches ? 50 : 86;

main.append(...sections(report));

function element(name: string, attributes: Record<string, string>, ...children: Content[]): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map((child) => (typeof child === 'string' ? visible(child) : child)));
  return made;
}

function card(title: string, ...children: Content[]): HTMLElement {
  return element('section', { class: 'hw-card' }, element('h3', {}, title), ...children);
}

function sections(report: Report): HTMLElement[] {
  const { prediction } = report;
  // The times stay those from before measuring, to compare them with the measured ones.
  const decided = { ...prediction, decision: report.decision };
  const comparison = {
    prediction,
    isH3Hypothetical: isH3Unoffered(report.recording, prediction),
    verified: {
      ...timesOf((protocol) => report.protocols[protocol].verifiedMs),
      ...rowOf('baseline', report.baseline.verifiedMs),
      ...rowOf('assigned', report.assignment.verifiedMs),
    },
    ...(report.mode === 'lab' && {
      measured: timesOf((protocol) => report.protocols[protocol].measuredMs),
      baseline: measuredOf(report.baseline.measuredMs),
      ...(prediction.decision.action.kind !== 'leave' && {
        assigned: measuredOf(report.assignment.measuredMs),
      }),
    }),
  };
  const width = Math.max(MIN_CHART_WIDTH, Math.min(1080, main.clientWidth - CARD_EDGES));
  return [
    header(report),
    element(
      'div',
      { class: 'hw-card' },
      ...hero(report),
      renderSummary(decided, { pinGain: report.pinGain }),
    ),
    card(
      t('reportTime'),
      renderProtocolChart(comparison, { width }),
      element(
        'details',
        { class: 'report-figures' },
        element('summary', {}, t('reportFigures')),
        renderTimesTable(comparison),
      ),
      ...report.warnings.map((warning) => element('p', { class: 'report-warning' }, toSentence(warning))),
    ),
    card(t('reportOrigins'), renderOriginTable(decided)),
    card(t('networkTitle'), ...network(report)),
    card(t('panelWaterfall'), waterfalls(report, width)),
    footer(report),
  ];
}

function header(report: Report): HTMLElement {
  const { createdAt, network, page, recording } = report;
  return element(
    'header',
    { class: 'report-header' },
    element('p', { class: 'report-product' }, 'hopwise'),
    element('h1', {}, page.url),
    element(
      'p',
      { class: 'hw-muted' },
      network.set ? describeLabPlace(formatTime(createdAt), network.set) : describeRecorded(recording),
    ),
  );
}

/** When the load was recorded, which may be long before the report; '' where the recording does not say. */
function describeRecorded({ recordedAt }: Report['recording']): string {
  return Number.isNaN(Date.parse(recordedAt)) ? '' : t('loadRecorded', { time: formatTime(recordedAt) });
}

function formatTime(time: string): string {
  return new Intl.DateTimeFormat(currentLocale(), TIME_FORMAT).format(new Date(time));
}

/** Smaller gains get no figure of their own. */
const MIN_HERO_GAIN = 0.05;

/** The gain of the headline, which has its load times, in one large figure; none for no gain. */
function hero(report: Report): HTMLElement[] {
  const { pinGain, decision, prediction } = report;
  if (pinGain?.effect === 'gains') return renderHero(pinGain.beforeMs, pinGain.afterMs);
  if (decision.kind !== 'act') return [];
  const { ownMs, hopwiseMs } = findHeadlineTimes({ ...prediction, decision });
  return renderHero(ownMs!, hopwiseMs!);
}

function renderHero(beforeMs: number, afterMs: number): HTMLElement[] {
  if (afterMs > (1 - MIN_HERO_GAIN) * beforeMs) return [];
  return [element('p', { class: 'report-hero' }, describeRatio(beforeMs, afterMs))];
}

/** A line of the terminal as a sentence. */
function toSentence(line: string): string {
  return `${line[0]!.toUpperCase()}${line.slice(1).replace(/\.?$/, '.')}`;
}

function timesOf(
  pick: (protocol: Protocol) => RepeatedSpread | Unavailable | null,
): Partial<Record<Protocol, Observed>> {
  const times: Partial<Record<Protocol, Observed>> = {};
  for (const protocol of PROTOCOLS) {
    const time = measuredOf(pick(protocol));
    if (time) times[protocol] = time;
  }
  return times;
}

function rowOf(
  row: ComparisonRow,
  time: RepeatedSpread | Unavailable | null,
): Partial<Record<ComparisonRow, Observed>> {
  const observed = measuredOf(time);
  return observed ? { [row]: observed } : {};
}

function measuredOf(time: RepeatedSpread | Unavailable | null): Observed | undefined {
  if (time === null) return undefined;
  if (isUnavailable(time)) return { unavailable: time.unavailable };
  return { medianMs: time.median, lowMs: time.low, highMs: time.high, runs: time.n };
}

function network(report: Report): Content[] {
  const estimated = renderNetwork(report.network.estimated);
  if (!report.network.set) return [estimated];
  const times = PROTOCOLS.map((protocol) => report.protocols[protocol].predictedGivenNetworkMs);
  const medians = times.map((time) => (time === null || isUnavailable(time) ? null : time.median));
  const write = createDurationFormat(Math.max(0, ...medians.filter((ms) => ms !== null)));
  const lines = describeLabNetwork(
    report.network.set,
    medians.map((ms) => (ms === null ? null : write(ms))),
  );
  return [estimated, ...lines.map((line) => element('p', { class: 'hw-note' }, line))];
}

/** The recorded load and the predicted ones, one shown at a time. */
function waterfalls(report: Report, width: number): HTMLElement {
  const views: [string, () => HTMLElement[]][] = [
    [t('toolRecorded'), () => [renderWaterfall(recordedWaterfall(report.recording), { width })]],
  ];
  for (const protocol of PROTOCOLS) {
    const waterfall = predictedWaterfall(report.recording, report.prediction, protocol);
    const time = report.protocols[protocol].predictedMs;
    if (waterfall && !isUnavailable(time))
      views.push([
        t('toolPredicted', { protocol: PROTOCOL_NAME[protocol] }),
        () => [
          ...explainEmulatedTime(protocol, time.median, waterfall),
          renderWaterfall(waterfall, { width }),
        ],
      ]);
  }
  const place = element('div', {});
  const buttons = views.map(([label, render]) => {
    const button = element('button', { type: 'button', class: 'report-tab', 'aria-pressed': 'false' }, label);
    button.addEventListener('click', () => {
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      place.replaceChildren(...render());
    });
    return button;
  });
  buttons[0]?.click();
  return element('div', {}, element('div', { class: 'report-tabs' }, ...buttons), place);
}

/** Why the load event of an emulated load is not the time that is predicted: predictions rest on more than the emulation. */
function explainEmulatedTime(protocol: Protocol, predictedMs: number, { pltMs }: Waterfall): HTMLElement[] {
  const [total, predicted] = formatDurations(pltMs ?? predictedMs, predictedMs);
  if (total === predicted) return [];
  const sentence = t('chainTakesOther', { protocol: PROTOCOL_NAME[protocol], predicted, total });
  return [element('p', { class: 'hw-note' }, sentence)];
}

function footer(report: Report): HTMLElement {
  const proofs = PROTOCOLS.flatMap((protocol) => {
    const { verifiedMs, measuredMs } = report.protocols[protocol];
    const parts: string[] = [];
    if (isTimed(verifiedMs)) {
      const { proved, requests } = verifiedMs;
      parts.push(t('reportTransfers', { proved, requests }));
    }
    if (isTimed(measuredMs)) parts.push(describeLabProofs(measuredMs.proved, measuredMs.requests));
    return parts.length > 0 ? [`${PROTOCOL_NAME[protocol]}: ${parts.join(', ')}`] : [];
  });
  const lines = [
    ...(proofs.length > 0 ? [t('reportProved', { proofs: proofs.join('; ') })] : []),
    ...[report.browser, report.engine].filter((name) => name !== '').map((name) => `${name}.`),
    ...(report.elapsedMs === null ? [] : [describeLabRun(report.elapsedMs)]),
  ];
  return element('footer', { class: 'hw-note' }, ...lines.map((line) => element('p', {}, line)));
}

function isTimed(time: RepeatedSpread | Unavailable | null): time is RepeatedSpread {
  return time !== null && !isUnavailable(time);
}
