/** The loads of a failed test as one HTML file: their times, what is predicted under each protocol, their waterfalls. */
import {
  EmulationError,
  PROTOCOL_NAME,
  PROTOCOLS,
  type Prediction,
  type Protocol,
  type RecordedRequest,
} from '@hopwise/pageload-emulator';
import { describeDisturbance, predictionOf, type ReplayLoad, titleOf } from './load.ts';

/** Requests that a waterfall shows: the first by their start. */
const MAX_ROWS = 400;
const ROW_PX = 18;
const WIDTH_PX = 640;
const URL_CHARACTERS = 70;

const COLOURS: Readonly<Record<Protocol | 'unknown', string>> = {
  h1: '#b45309',
  h2: '#1d4ed8',
  h3: '#047857',
  unknown: '#6b7280',
};

const STYLE = `
:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif }
body { margin: 2em auto; max-width: 76em; padding: 0 1em }
table { border-collapse: collapse } th, td { padding: 2px 12px 2px 0; text-align: left } td.n, th.n { text-align: right }
.waterfall { overflow-x: auto } svg text { font: 11px system-ui, sans-serif; fill: currentColor }
.warning { color: #b91c1c }
`;

/** @param title of the test */
export function renderLoads(loads: readonly ReplayLoad[], title: string): string {
  const disturbance = describeDisturbance(loads);
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escapeHtml(title)}: loads</title><style>${STYLE}</style>`,
    `<h1>${escapeHtml(title)}</h1>`,
    disturbance === '' ? '' : `<p class="warning">${escapeHtml(disturbance)}</p>`,
    table(
      ['load', 'load time', 'first paint', 'largest paint', 'requests'],
      loads.map((load) => [
        titleOf(load),
        ms(load.pltMs),
        ms(load.fcpMs),
        ms(load.lcpMs),
        String(load.requests.length),
      ]),
    ),
    loads.length === 0 ? '' : predicted(loads[0]!),
    ...loads.map((load, index) => `<h2>${index + 1}. ${escapeHtml(titleOf(load))}</h2>${waterfall(load)}`),
    '</html>\n',
  ].join('\n');
}

/** What the first load's recording says of each protocol on its network. */
function predicted(load: ReplayLoad): string {
  let prediction: Prediction;
  try {
    prediction = predictionOf(load);
  } catch (error) {
    if (!(error instanceof EmulationError)) throw error;
    return `<h2>Predicted</h2><p>${escapeHtml(error.message)}</p>`;
  }
  const rows = PROTOCOLS.map((protocol) => {
    const time = prediction.protocols[protocol];
    return 'unavailable' in time
      ? [PROTOCOL_NAME[protocol], '–', time.unavailable]
      : [PROTOCOL_NAME[protocol], ms(time.pltMs), `${ms(time.low)} to ${ms(time.high)}`];
  });
  return `<h2>Predicted</h2><p>${escapeHtml(prediction.decision.verdict)}.</p>${table(['protocol', 'load time', 'four of five loads'], rows)}`;
}

function waterfall({ recording, pltMs }: ReplayLoad): string {
  const requests = recording.requests.toSorted((a, b) => a.startMs - b.startMs);
  const shown = requests.slice(0, MAX_ROWS);
  const lastMs = Math.max(pltMs, ...shown.map(({ endMs }) => endMs));
  const x = (at: number) => ((Math.max(0, at) / lastMs) * WIDTH_PX).toFixed(1);
  const height = shown.length * ROW_PX;
  const rows = shown.map((request, index) => row(request, index * ROW_PX, x));
  const line = `<line x1="${x(pltMs)}" x2="${x(pltMs)}" y1="0" y2="${height}" stroke="#b91c1c"/>`;
  const legend = PROTOCOLS.map(
    (protocol) => `<span style="color:${COLOURS[protocol]}">■ ${PROTOCOL_NAME[protocol]}</span>`,
  ).join(' ');
  const rest = requests.length - shown.length;
  return [
    `<p>${legend} <span style="color:#b91c1c">| load event, ${ms(pltMs)}</span></p>`,
    `<div class="waterfall"><svg width="${WIDTH_PX + 480}" height="${height}" role="img" aria-label="Waterfall">`,
    ...rows,
    line,
    '</svg></div>',
    rest > 0 ? `<p>and ${rest} more requests</p>` : '',
  ].join('\n');
}

/** A request: pale until its first byte, full while it is received. */
function row(request: RecordedRequest, y: number, x: (at: number) => string): string {
  const { url, startMs, endMs, protocol, fromCache, phases } = request;
  const firstByteMs = phases.responseStartMs ?? startMs;
  const colour = COLOURS[protocol ?? 'unknown'];
  const bar = (from: number, to: number, opacity: number) =>
    `<rect x="${x(from)}" y="${y + 3}" width="${Math.max(1, Number(x(to)) - Number(x(from)))}" height="${ROW_PX - 6}" fill="${colour}" opacity="${opacity}"/>`;
  const name = url.length > URL_CHARACTERS ? `…${url.slice(1 - URL_CHARACTERS)}` : url;
  const what = `${protocol ?? (fromCache ? 'cache' : 'unknown')}, ${ms(startMs)} to ${ms(endMs)}`;
  return `<g><title>${escapeHtml(`${url}: ${what}`)}</title>${bar(startMs, firstByteMs, 0.35)}${bar(firstByteMs, endMs, 1)}<text x="${WIDTH_PX + 8}" y="${y + 13}">${escapeHtml(name)}</text></g>`;
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (tag: 'td' | 'th', texts: readonly string[]) =>
    texts
      .map((text, index) => `<${tag}${index === 0 ? '' : ' class="n"'}>${escapeHtml(text)}</${tag}>`)
      .join('');
  return `<table><tr>${cells('th', titles)}</tr>${rows.map((texts) => `<tr>${cells('td', texts)}</tr>`).join('')}</table>`;
}

const ms = (value: number | null): string => (value === null ? '–' : `${Math.round(value)} ms`);

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
