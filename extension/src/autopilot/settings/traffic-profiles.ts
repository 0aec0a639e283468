/** Kinds of traffic and of networks, which rules name: VTL's application and network profiles (NETWORKING 2021, section IV) on origins. */
import type { RecordedRequest } from '@hopwise/contract';
import type { NetworkCluster } from '@hopwise/pageload-emulator';

export const TRAFFIC_KINDS = ['page', 'media', 'download', 'messages'] as const;
export type TrafficKind = (typeof TRAFFIC_KINDS)[number];

export const NETWORK_KINDS = ['near', 'distant', 'long-delay', 'lossy', 'udp-hindered'] as const;
export type NetworkKind = (typeof NETWORK_KINDS)[number];

/** Bytes of a body from which on it counts as a large download, or up to which it counts as a message. */
const LARGE_BODY_BYTES = 5_000_000;
const MAX_MESSAGE_BYTES = 4_096;
const MIN_MESSAGES = 3;

/** Bounds of VTL's Table I, milliseconds. */
const DISTANT_RTT_MS = 50;
const LONG_DELAY_RTT_MS = 500;
/** Losses per packet, from which on they matter more than the round trip. */
const LOSSY = 0.01;

type Answer = Pick<RecordedRequest, 'type' | 'bodyBytes'>;

/** What most of an origin's bytes are. */
export function classifyTraffic(answers: readonly Answer[]): TrafficKind {
  const total = sumBytes(answers);
  const isMost = (part: readonly Answer[]) => total > 0 && sumBytes(part) > total / 2;
  if (isMost(answers.filter(({ type }) => type === 'media'))) return 'media';
  if (isMost(answers.filter(({ bodyBytes }) => (bodyBytes ?? 0) >= LARGE_BODY_BYTES))) return 'download';
  const isMessage = ({ type, bodyBytes }: Answer) =>
    (type === 'fetch' || type === 'beacon') && bodyBytes !== null && bodyBytes <= MAX_MESSAGE_BYTES;
  return answers.length >= MIN_MESSAGES && answers.every(isMessage) ? 'messages' : 'page';
}

const sumBytes = (answers: readonly Answer[]): number =>
  answers.reduce((sum, { bodyBytes }) => sum + (bodyBytes ?? 0), 0);

/** What distinguishes a network most, by the medians of what earlier loads showed. */
export function classifyNetwork({
  rttMs,
  loss,
  udp,
}: Pick<NetworkCluster, 'rttMs' | 'loss' | 'udp'>): NetworkKind {
  if (udp.open < udp.policed + udp.blocked) return 'udp-hindered';
  // Figures are log-normal.
  const medianRttMs = Math.exp(rttMs.mean);
  if (medianRttMs >= LONG_DELAY_RTT_MS) return 'long-delay';
  if (Math.exp(loss.mean) >= LOSSY) return 'lossy';
  return medianRttMs >= DISTANT_RTT_MS ? 'distant' : 'near';
}
