/** What is known when a decision is made: features of a recording and of what hopwise answers to it, nothing of the truth. */
import type { MeasuredExchange } from '@hopwise/contract';
import { ExchangeFeatures, FEATURES, transportOf } from '@hopwise/model';
import { PROTOCOLS, type Prediction, type Protocol, type Recording } from '@hopwise/pageload-emulator';

/** Features by name; null for what is not known. Ratios and widths are logarithms. */
export type StackingFeatures = Record<string, number | null>;

export function stackingFeatures(prediction: Prediction, recording: Recording): StackingFeatures {
  const { page, network, observed, fit, decision, emulated } = prediction;
  const { rttMs, downMbps, upMbps, loss, lossBurst, queueBytes, udpShares, ranges } = network;
  const transferMs = (8 * page.bytes) / (1e3 * downMbps);
  return {
    ...pageFeatures(prediction, recording),
    ...recordedShares(observed.protocols),
    recordedMs: observed.pltMs,
    transferShare: shareOf(transferMs, observed.pltMs),
    rttShare: shareOf(rttMs, observed.pltMs),
    ...{ rttMs, downMbps, upMbps, loss, lossBurst, queueBytes },
    queueRtts: (8 * queueBytes) / (1e3 * downMbps * rttMs),
    rttWidth: widthOf(ranges.rttMs),
    downWidth: widthOf(ranges.downMbps),
    lossHigh: ranges.loss.high,
    udpPoliced: udpShares.policed,
    udpBlocked: udpShares.blocked,
    explained: logRatio(fit.explainedMs, fit.recordedMs),
    understood: Number(fit.understood),
    emulatedConfidence: emulated.confidence,
    confidence: decision.confidence,
    ...timeFeatures('emulated', (protocol) => {
      const time = emulated.protocols[protocol];
      return 'unavailable' in time ? undefined : time;
    }),
    ...timeFeatures('decision', (protocol) => decision.protocols[protocol]),
    ...requestFeatures(recording),
  };
}

function pageFeatures({ page, origins }: Prediction, { requests }: Recording): StackingFeatures {
  const shareOfType = (...types: string[]) =>
    requests.filter(({ type }) => types.includes(type)).length / requests.length;
  const depths: number[] = [];
  for (const { id, initiator } of requests)
    depths[id] = initiator.requestId === null ? 0 : 1 + (depths[initiator.requestId] ?? 0);
  return {
    requests: page.requests,
    origins: page.origins,
    bytes: page.bytes,
    bytesPerRequest: shareOf(page.bytes, page.requests),
    largestOrigin: shareOf(Math.max(...origins.map(({ bytes }) => bytes)), page.bytes),
    mostRequests: shareOf(Math.max(...origins.map((origin) => origin.requests)), page.requests),
    depth: Math.max(...depths.filter((depth) => depth !== undefined)),
    scripts: shareOfType('script'),
    images: shareOfType('image'),
    blocking: shareOfType('style', 'font'),
  };
}

function recordedShares(counts: Partial<Record<Protocol, number>>): StackingFeatures {
  const answered = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const share = (protocol: Protocol) => shareOf(counts[protocol] ?? 0, answered);
  return { h1Share: share('h1'), h3Share: share('h3') };
}

/** The times of HTTP/1.1 and HTTP/3 over that of HTTP/2, and how wide the range of each is. */
function timeFeatures(
  name: string,
  timeOf: (protocol: Protocol) => { pltMs: number; low: number; high: number } | undefined,
): StackingFeatures {
  const base = timeOf('h2')?.pltMs;
  return Object.fromEntries(
    PROTOCOLS.flatMap((protocol) => {
      const time = timeOf(protocol);
      return [
        [`${name}Ratio_${protocol}`, logRatio(time?.pltMs, base)],
        [`${name}Width_${protocol}`, time === undefined ? null : widthOf(time)],
      ];
    }),
  );
}

/** WiseTrans's features (its Table 1) at the last response over the transport that most requests used; a recording lacks those of packets. */
function requestFeatures({ requests }: Recording): StackingFeatures {
  const exchanges = requests.flatMap(({ protocol, status, endMs, bodyBytes, phases }): MeasuredExchange[] => {
    const { requestStartMs, responseStartMs } = phases;
    if (protocol === null || requestStartMs === null || responseStartMs === null) return [];
    const [ttfbMs, completionMs] = [responseStartMs - requestStartMs, endMs - requestStartMs];
    const figures = { ttfbMs, completionMs, bodyBytes: bodyBytes ?? 0 };
    return [{ endedAtMs: endMs, protocol, status, ...figures, isReused: true, tcp: null }];
  });
  const isQuic = (exchange: MeasuredExchange) => transportOf(exchange) === 'quic';
  const isMostlyQuic = 2 * exchanges.filter(isQuic).length > exchanges.length;
  const windows = new ExchangeFeatures();
  const latest = exchanges
    .filter((exchange) => isQuic(exchange) === isMostlyQuic)
    .sort((a, b) => a.endedAtMs - b.endedAtMs)
    .reduce<Float32Array | null>((_, exchange) => windows.add(exchange), null);
  return Object.fromEntries(
    FEATURES.map((feature, index) => {
      const value = latest?.[index];
      return [feature, value === undefined || Number.isNaN(value) ? null : value];
    }),
  );
}

const widthOf = ({ low, high }: { low: number; high: number }): number | null => logRatio(high, low);

function logRatio(over: number | null | undefined, under: number | null | undefined): number | null {
  return over && under ? Math.log(over / under) : null;
}

const shareOf = (part: number, whole: number | null): number | null =>
  whole === null || whole === 0 ? null : part / whole;
