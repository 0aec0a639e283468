import { PROTOCOL_NAME, type Protocol } from '@hopwise/contract';
import { durationsIn, lossIn } from '@hopwise/pageload-emulator';
import { formatNumber } from '../language/format-number.ts';
import { currentLanguage, currentLocale, t } from '../language/translate.ts';
import { visible } from './dom.ts';

/** A duration in two significant digits: `840 ms`, `4.3 s`, `12 s`. */
export function formatDuration(ms: number): string {
  return durationsIn(currentLanguage(), [ms])[0]!;
}

/** Two durations that are compared with each other, both in the unit of the longer. */
export function formatDurations(firstMs: number, secondMs: number): [string, string] {
  return durationsIn(currentLanguage(), [firstMs, secondMs]) as [string, string];
}

/** Round trips and phases of requests: as `formatDuration` from a second on, `62 ms` below, tenths below ten milliseconds. */
export function formatMs(ms: number): string {
  if (ms < 9.95 && ms > 0) return `${formatNumber(ms, { maximumFractionDigits: 1 })} ms`;
  return ms < 995 ? `${Math.round(ms)} ms` : formatDuration(ms);
}

/** Writes load times that are shown together, all in the unit of the longest. */
export function createDurationFormat(longestMs: number): (ms: number) => string {
  return (ms) => formatDurations(ms, longestMs)[0];
}

/** Two durations that are compared with each other, rounded as `formatDurations` writes them, milliseconds. */
export function roundAsShown(firstMs: number, secondMs: number): [number, number] {
  const shownMs = (text: string) => Number.parseFloat(text) * (text.endsWith(' ms') ? 1 : 1000);
  return durationsIn('en', [firstMs, secondMs]).map(shownMs) as [number, number];
}

/**
 * What a load time gains over another, as the difference of both as they are shown together: `2.2 s → 0.9 s` gains `1.3 s`. Of times that
 * look alike it is what they differ by.
 */
export function formatGain(beforeMs: number, afterMs: number): string {
  const [before, after] = roundAsShown(beforeMs, afterMs);
  const gainMs = before === after ? beforeMs - afterMs : before - after;
  if (Math.abs(gainMs) < 995) return formatDuration(gainMs);
  return `${formatNumber(gainMs / 1000, { minimumFractionDigits: 1, maximumFractionDigits: 1 })} s`;
}

/** Joins figures and their units, and both sides of an arrow, by no-break spaces. */
export function keepUnitsTogether(text: string): string {
  return text.replace(/(\d) (?=(?:ms|s|MB|kB|B)\b)/g, '$1\u00a0').replaceAll(' → ', '\u00a0→\u00a0');
}

/** Labels of a time axis, all in one unit: `500 ms` or `0.5 s`. */
export function createTickFormat(endMs: number): (ms: number) => string {
  return (ms) => {
    if (ms === 0) return '0';
    return endMs < 1000 ? `${ms} ms` : `${formatNumber(ms / 1000, { maximumFractionDigits: 2 })} s`;
  };
}

/** `12%`; only exactly 0 and 1 are shown as 0% and 100%. */
export function formatShare(fraction: number): string {
  const write = (share: number) => formatNumber(share, { style: 'percent' });
  if (fraction > 0 && fraction < 0.005) return `<${write(0.01)}`;
  if (fraction < 1 && fraction > 0.995) return `>${write(0.99)}`;
  return write(fraction);
}

/** `1.2 MB`, decimal units. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${Math.round(bytes / 1000)} kB`;
  const digits = bytes < 99.5e6 ? 1 : 0;
  return `${formatNumber(bytes / 1e6, { minimumFractionDigits: digits, maximumFractionDigits: digits })} MB`;
}

/** `18 Mbit/s`, with two significant digits below ten. */
export function formatMbps(mbps: number): string {
  return `${formatNumber(mbps, mbps < 10 ? { maximumSignificantDigits: 2 } : {})} Mbit/s`;
}

/** Loss per packet: `0.3%`, `none`. */
export function formatLoss(fraction: number): string {
  return lossIn(currentLanguage(), fraction);
}

/** `1 page load, 2 verifications and the learned network` */
export function formatList(items: readonly string[]): string {
  return new Intl.ListFormat(currentLocale()).format(items);
}

/** A date with its time of day. */
export function formatTime(timeMs: number): string {
  return new Date(timeMs).toLocaleString(currentLocale(), { dateStyle: 'medium', timeStyle: 'short' });
}

/** The time of day alone. */
export function formatTimeOfDay(timeMs: number): string {
  return new Date(timeMs).toLocaleTimeString(currentLocale(), { timeStyle: 'short' });
}

/** Origin without its scheme if that is https. */
export function formatOrigin(origin: string): string {
  return visible(origin.replace(/^https:\/\//, ''));
}

/** What is cut has a beginning and an end. */
const MIN_CLIPPED = 3;
/** The longest host in a label that is cut, as a share of it: the name tells more. */
const MAX_HOST_SHARE = 0.45;

/**
 * Short label of a request: the last segment of its path, then its host unless that is the page's. Where it is too long, the query goes
 * first, then the start of the host and the middle of the name; the host is left out where nothing of the name would be left.
 */
export function formatUrl(url: string, pageUrl: string, maxLength = 34): string {
  if (!URL.canParse(url)) return clip(url, maxLength);
  const { host, pathname, search } = new URL(url);
  const last = pathname.split('/').findLast((piece) => piece !== '');
  if (last === undefined) return clip(`${host}${search}`, maxLength);
  const pageHost = URL.canParse(pageUrl) ? new URL(pageUrl).host : '';
  const isOther = host !== pageHost;
  const name = visible(decode(last));
  const whole = `${name}${search}${isOther ? ` · ${host}` : ''}`;
  if (whole.length <= maxLength) return whole;
  const place = isOther ? ` · ${clipStart(host, Math.floor(MAX_HOST_SHARE * maxLength))}` : '';
  const query = search === '' ? '' : '?…';
  const rests = [`${query}${place}`, query, ''];
  const rest = rests.find(({ length }) => maxLength - length >= MIN_CLIPPED) ?? '';
  return `${clip(name, maxLength - rest.length)}${rest}`;
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text);
    return visible(decoded) === decoded ? decoded : text;
  } catch {
    return text;
  }
}

/** Leaves out the middle: names of files that are alike differ at their ends. */
function clip(whole: string, maxLength: number): string {
  const text = visible(whole);
  if (text.length <= maxLength) return text;
  const room = Math.max(maxLength, MIN_CLIPPED) - 1;
  const end = Math.floor(room / 2);
  return `${text.slice(0, room - end)}…${text.slice(-end)}`;
}

/** Leaves out the start: a host ends with its site. */
function clipStart(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `…${text.slice(1 - maxLength)}`;
}

/** What a pin holds its origin to, within a sentence. */
export function nameVersion(kind: Protocol | 'auto'): string {
  return kind === 'auto' ? t('protocolByRequest') : PROTOCOL_NAME[kind];
}
