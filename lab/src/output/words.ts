import type { UdpNotation } from '@hopwise/contract';
import { lossIn } from '@hopwise/pageload-emulator';

/** Milliseconds as text: `840 ms`, `2.38 s`. */
export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** `1 request`, `2 requests`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** A network's figures in the units of the command line; an estimate may also have UDP with losses of its own. */
interface NetworkFigures {
  rttMs: number;
  downMbps: number;
  upMbps: number;
  loss: number;
  udp: UdpNotation;
}

export function networkText(network: NetworkFigures): string {
  const short = (value: number) => Number(value.toPrecision(3));
  const udp =
    typeof network.udp === 'number' ? `UDP limited to ${short(network.udp)} Mbit/s` : `UDP ${network.udp}`;
  return (
    `round trip ${short(network.rttMs)} ms, ${short(network.downMbps)} Mbit/s down, ` +
    `${short(network.upMbps)} Mbit/s up, loss ${lossIn('en', network.loss)}, ${udp}`
  );
}
