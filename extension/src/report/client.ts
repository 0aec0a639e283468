/** Runs inside `report.html`: draws the report from the JSON that the file carries. */

import { PROTOCOL_NAME } from '@hopwise/contract';
import { PROTOCOLS, type Protocol, type Unavailable } from '@hopwise/pageload-emulator';
import {
  type ComparisonRow,
  createDurationFormat,
  describeRatio,
  findHeadlineTimes,
  formatLoss,
  formatMbps,
  formatMs,
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
} from '../ui/index.ts';
import { isUnavailable, type NetworkAsSet, type RepeatedSpread, type Report } from './report.ts';
import '../ui/theme.css';
import './report.css';

const report = JSON.parse(document.getElementById('data')?.textContent ?? '') as Report;
const main = document.getElementById('report') as HTMLElement;

type Content = Node | string;

/** In pixels. A window of 320 has this much between its cards' edges. */
const MIN_CHART_WIDTH = 258;
/** Narrower windows scroll the waterfall: names and bars need the width. */
const MIN_WATERFALL_WIDTH = 560;
/** Padding and borders of `#report` and of a card, left and right; see report.css. */
const CARD_EDGES = window.matchMedia('(max-width: 560px)').matches ? 50 : 86;

main.append(...sections(report));

function element(name: string, attributes: Record<string, string>, ...children: Content[]): HTMLElement {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
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
    isH3Hypothetical: isH3Unoffered(report.recording),
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
      'Page load time',
      renderProtocolChart(comparison, { width }),
      renderTimesTable(comparison),
      ...report.warnings.map((warning) => element('p', { class: 'report-warning' }, toSentence(warning))),
    ),
    card('What to use for each origin', renderOriginTable(decided)),
    card('The network', ...network(report)),
    card('Waterfall', waterfalls(report, Math.max(MIN_WATERFALL_WIDTH, width))),
    footer(report),
  ];
}

function header(report: Report): HTMLElement {
  const where = report.network.set
    ? `in the lab, on the link “${report.network.set.name}”: ${describeLink(report.network.set)}`
    : 'on the live network';
  return element(
    'header',
    { class: 'report-header' },
    element('p', { class: 'report-product' }, 'hopwise'),
    element('h1', {}, report.page.url),
    element('p', { class: 'hw-muted' }, `${new Date(report.createdAt).toUTCString()}, ${where}`),
  );
}

/** Gains of less are none worth a figure. */
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

/** `round trip 28 ms, 40 Mbit/s down, 8 Mbit/s up, loss 0.5%, UDP limited to 2 Mbit/s`. */
function describeLink({ rttMs, downMbps, upMbps, loss, udp }: NetworkAsSet): string {
  const treatment = typeof udp === 'number' ? `limited to ${formatMbps(udp)}` : udp;
  return `round trip ${formatMs(rttMs)}, ${formatMbps(downMbps)} down, ${formatMbps(upMbps)} up, loss ${formatLoss(loss)}, UDP ${treatment}`;
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
  const given = PROTOCOLS.map((protocol, index) => {
    const ms = medians[index] ?? null;
    return `${PROTOCOL_NAME[protocol]} ${ms === null ? 'unavailable' : write(ms)}`;
  });
  return [
    estimated,
    element('p', { class: 'hw-note' }, `As it was set: ${describeLink(report.network.set)}.`),
    element('p', { class: 'hw-note' }, `Given that network, the prediction is: ${given.join(', ')}.`),
  ];
}

/** The recorded load and the predicted ones, one shown at a time. */
function waterfalls(report: Report, width: number): HTMLElement {
  const views: [string, () => HTMLElement][] = [
    ['As recorded', () => renderWaterfall(recordedWaterfall(report.recording), { width })],
  ];
  for (const protocol of PROTOCOLS) {
    const waterfall = predictedWaterfall(report.recording, report.prediction, protocol);
    if (waterfall)
      views.push([`Predicted, ${PROTOCOL_NAME[protocol]}`, () => renderWaterfall(waterfall, { width })]);
  }
  const place = element('div', {});
  const hint = element('p', { class: 'hw-note report-scroll-hint' }, 'Scroll sideways for later times →');
  const buttons = views.map(([label, render]) => {
    const button = element('button', { type: 'button', class: 'report-tab', 'aria-pressed': 'false' }, label);
    button.addEventListener('click', () => {
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      place.replaceChildren(render());
    });
    return button;
  });
  buttons[0]?.click();
  return element('div', {}, element('div', { class: 'report-tabs' }, ...buttons), hint, place);
}

function footer(report: Report): HTMLElement {
  const proofs = PROTOCOLS.flatMap((protocol) => {
    const { verifiedMs, measuredMs } = report.protocols[protocol];
    const parts: string[] = [];
    for (const [what, time] of [
      ['transfers', verifiedMs],
      ['requests in Chromium', measuredMs],
    ] as const) {
      if (time !== null && !isUnavailable(time)) parts.push(`${time.proved} of ${time.requests} ${what}`);
    }
    return parts.length > 0 ? [`${PROTOCOL_NAME[protocol]}: ${parts.join(', ')}`] : [];
  });
  const lines = [
    ...(proofs.length > 0
      ? [
          `Proved to have used the protocol (libcurl’s reported version; nextHopProtocol): ${proofs.join('; ')}.`,
        ]
      : []),
    ...[report.browser, report.engine].filter((name) => name !== '').map((name) => `${name}.`),
    ...(report.elapsedMs === null ? [] : [`The whole run took ${Math.round(report.elapsedMs / 1000)} s.`]),
  ];
  return element('footer', { class: 'hw-note' }, ...lines.map((line) => element('p', {}, line)));
}
