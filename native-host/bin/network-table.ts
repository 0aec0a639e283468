/** Checks of a network as lines for a terminal. */
import type { MeasuredNetwork, UdpVerdict } from '@hopwise/contract';
import { printable } from '@hopwise/contract/terminal';

/** One check of a network; with `--json` a line of its own. */
export interface NetworkCheck {
  /** When it began, ISO 8601. */
  at: string;
  /** The server that it transferred from. */
  origin: string;
  elapsedMs: number;
  /** Response bytes of all transfers. */
  bytes: number;
  /** Null where the check failed. */
  measured: MeasuredNetwork | null;
  udp: UdpVerdict | null;
  /** Why there is no result; '' otherwise. */
  problem: string;
}

const NONE = '-';
const COLUMNS = [
  ['time', 19],
  ['UDP', 8],
  ['RTT', 9],
  ['loss', 7],
  ['over TCP', 11],
  ['over UDP', 11],
] as const;

/** A single check in words. */
export function checkLines({ origin, elapsedMs, bytes, measured, udp, problem }: NetworkCheck): string {
  if (measured === null || udp === null) return printable(`${origin}: ${problem}`, Number.POSITIVE_INFINITY);
  const lines = [
    `UDP: ${udp.verdict}. ${udp.reason}`,
    `round trip: ${ms(measured.rttMs)}; loss: ${lossInWords(measured)}`,
    `rates: HTTP/2 ${mbps(udp.tcpBps)}, HTTP/3 ${mbps(udp.quicBps)}`,
    `${Math.round(bytes / 1000)} kB from ${origin} in ${(elapsedMs / 1000).toFixed(1)} s`,
  ];
  return lines.map((line) => printable(line, Number.POSITIVE_INFINITY)).join('\n');
}

/** Titles of the columns of `checkRow`. */
export function checkHead(): string {
  return row(COLUMNS.map(([title]) => title));
}

/** A check among others. */
export function checkRow({ at, measured, udp, problem }: NetworkCheck): string {
  const time = at.slice(0, 19).replace('T', ' ');
  if (measured === null || udp === null) return printable(`${time}  ${problem}`, Number.POSITIVE_INFINITY);
  return row([time, udp.verdict, ms(measured.rttMs), loss(measured), mbps(udp.tcpBps), mbps(udp.quicBps)]);
}

/** What the checks show together: how UDP is treated, and when that changed. */
export function summariseChecks(checks: readonly NetworkCheck[]): string {
  const judged = checks.flatMap(({ at, udp }) =>
    udp === null || udp.verdict === 'unknown' ? [] : [{ at, verdict: udp.verdict }],
  );
  const failed = checks.filter(({ measured }) => measured === null).length;
  const outcome = `${checks.length} check${checks.length === 1 ? '' : 's'}${failed > 0 ? `, ${failed} failed` : ''}`;
  if (judged.length === 0) return `${outcome}; how UDP is treated stayed unknown`;
  const changes = judged.filter(({ verdict }, index) => index > 0 && judged[index - 1]!.verdict !== verdict);
  const said = changes.map(({ at, verdict }) => `${verdict} from ${at.slice(11, 16)} on`);
  return `${outcome}; UDP: ${[judged[0]!.verdict, ...said].join(', ')} (UTC)`;
}

function row(cells: readonly string[]): string {
  return cells
    .map((cell, index) => cell.padEnd(COLUMNS[index]![1]))
    .join('  ')
    .trimEnd();
}

function lossInWords(measured: MeasuredNetwork): string {
  const { loss: counted } = measured;
  if (!counted || counted.packets === 0) return NONE;
  const queue = counted.isRandom ? '' : ', drops at full queues included';
  return `${loss(measured)} of ${counted.packets} packets${queue}`;
}

function loss({ loss: counted }: MeasuredNetwork): string {
  if (!counted || counted.packets === 0) return NONE;
  return `${((100 * (counted.lost ?? counted.events)) / counted.packets).toFixed(2)}%`;
}

const ms = (value: number | undefined): string => (value === undefined ? NONE : `${value.toFixed(1)} ms`);
const mbps = (bps: number | null): string => (bps === null ? NONE : `${(bps / 1e6).toFixed(1)} Mbit/s`);
