/** What reports of loads in the lab say besides: only `npm start` writes these, and in English. */
import { PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
import { formatLoss, formatMbps, formatMs } from '../ui/index.ts';
import type { NetworkAsSet } from './report.ts';

/** `round trip 28 ms, 40 Mbit/s down, 8 Mbit/s up, loss 0.5%, UDP limited to 2 Mbit/s`. */
function describeLink({ rttMs, downMbps, upMbps, loss, udp }: NetworkAsSet): string {
  const treatment = typeof udp === 'number' ? `limited to ${formatMbps(udp)}` : udp;
  return `round trip ${formatMs(rttMs)}, ${formatMbps(downMbps)} down, ${formatMbps(upMbps)} up, loss ${formatLoss(loss)}, UDP ${treatment}`;
}

/** When and where the loads were made. */
export const describeLabPlace = (time: string, network: NetworkAsSet): string =>
  `${time}, in the lab, on the link “${network.name}”: ${describeLink(network)}`;

/**
 * The link as it was set, and what is predicted for it.
 *
 * @param predicted load times under HTTP/1.1, 2 and 3; null where a protocol is unavailable
 */
export function describeLabNetwork(network: NetworkAsSet, predicted: readonly (string | null)[]): string[] {
  const given = PROTOCOLS.map(
    (protocol, index) => `${PROTOCOL_NAME[protocol]} ${predicted[index] ?? 'unavailable'}`,
  );
  return [
    `As it was set: ${describeLink(network)}.`,
    `Given that network, the prediction is: ${given.join(', ')}.`,
  ];
}

/** How many requests of measured loads were proved to use the protocol. */
export const describeLabProofs = (proved: number, requests: number): string =>
  `${proved} of ${requests} requests in Chromium`;

export const describeLabRun = (elapsedMs: number): string =>
  `The whole run took ${Math.round(elapsedMs / 1000)} s.`;
