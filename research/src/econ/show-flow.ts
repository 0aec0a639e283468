import { basename } from 'node:path';
import { printable, table } from '@hopwise/contract/terminal';
import { ms, number } from '../../../pageload-emulator/bin/show.ts';

/** What a flow was asked about under. */
interface StatedConditions {
  congestionControl: 'cubic' | 'reno';
  rttMs: number;
  /** Null for no bottleneck. */
  downMbps: number | null;
  /** Time that the bottleneck's full queue takes to drain; null for no bottleneck. */
  queueMs: number | null;
  /** Connections that share the bottleneck. */
  connections: number;
  /** Per segment; null where files of p(cwnd) are given. */
  loss: number | null;
  /** Files of p(cwnd). */
  pcwnd: string[];
}

/** Answer of `npm run research -- flow --json`. */
export interface FlowAnswer {
  bytes: number;
  segments: number;
  /** Segments. */
  initialWindow: number;
  conditions: StatedConditions;
  /** From the request on an open connection until the last segment has arrived, mean. */
  completionMs: number;
  /** Throughput of the flow. */
  mbps: number;
  /** A flow without an end; null where nothing ever ends the growth of its window. */
  longFlow: { mbps: number; windowAtLoss: number; lossEveryMs: number } | null;
}

/** Answer of `npm run research -- video --json`. */
export interface VideoAnswer {
  segmentSeconds: number;
  /** Window when a segment is asked for, TCP segments. */
  window: number;
  conditions: StatedConditions;
  /** Null where none arrives in time. */
  best: TimedRepresentation | null;
  /** Highest bitrate first. */
  representations: TimedRepresentation[];
}

interface TimedRepresentation {
  name: string;
  kbps: number;
  /** Size of a segment. */
  bytes: number;
  /** How long a segment takes, mean. */
  latencyMs: number;
  isInTime: boolean;
}

/** A flow for a person. */
export function showFlow({
  bytes,
  segments,
  initialWindow,
  conditions,
  completionMs,
  mbps,
  longFlow,
}: FlowAnswer): string {
  return [
    `${bytes} bytes in ${segments} segments, initial window ${initialWindow}`,
    showConditions(conditions),
    '',
    table([
      ['', '>mean'],
      ['completion time', ms(completionMs)],
      ['throughput', `${number(mbps)} Mbit/s`],
      ...(longFlow
        ? [
            ['a long flow', `${number(longFlow.mbps)} Mbit/s`],
            ['its window at a loss', `${number(longFlow.windowAtLoss)} segments`],
            ['its time between losses', ms(longFlow.lossEveryMs)],
          ]
        : [['a long flow', 'no limit: nothing ends the growth of its window']]),
    ]),
    '',
    "ECON's mean over an open connection: without handshakes, server think time and timeouts.",
  ].join('\n');
}

/** A choice of bitrate for a person. */
export function showVideo({
  segmentSeconds,
  window,
  conditions,
  best,
  representations,
}: VideoAnswer): string {
  return [
    best
      ? `Best: ${printable(best.name)}${best.name.endsWith('kbit/s') ? '' : `, ${number(best.kbps)} kbit/s`}.`
      : 'No representation arrives within its playing time.',
    `segments of ${number(segmentSeconds)} s, asked for at a window of ${window} TCP segments`,
    showConditions(conditions),
    '',
    table([
      ['representation', '>kbit/s', '>kB', '>arrives in', ''],
      ...representations.map(({ name, kbps, bytes, latencyMs, isInTime }) => [
        printable(name, 40),
        number(kbps),
        String(Math.round(bytes / 1000)),
        ms(latencyMs),
        isInTime ? 'in time' : 'late',
      ]),
    ]),
  ].join('\n');
}

function showConditions({
  congestionControl,
  rttMs,
  downMbps,
  queueMs,
  connections,
  loss,
  pcwnd,
}: StatedConditions): string {
  const control = congestionControl === 'cubic' ? 'Cubic' : 'Reno';
  const link =
    downMbps === null ? 'no bottleneck' : `${number(downMbps)} Mbit/s with a queue of ${ms(queueMs!)}`;
  const lost =
    loss === null
      ? `loss by window from ${pcwnd.map((file) => printable(basename(file))).join(', ')}`
      : `loss ${number(loss * 100)}%`;
  const shared = connections === 1 ? '' : `, ${connections} connections`;
  return `${control}, round trip ${number(rttMs)} ms, ${link}${shared}, ${lost}`;
}
