/** What starts at a rate gain. */
import { median } from '@hopwise/contract';
import { type MedianInterval, medianInterval } from '@hopwise/lab/median-interval';
import type { StartedFlow } from './kept-starts.ts';
import { LINKS, type Link, type Start } from './starts.ts';

/** Flows of one size on one link, by round. */
export interface StartTimes {
  link: Link['name'];
  start: Start;
  flows: StartedFlow[];
  /** What the emulator gives, milliseconds. */
  emulatedMs: number;
}

/** How a start differs from slow start, over flows of one size on one link. */
export interface StartGain {
  link: Link;
  /** Milliseconds less than after slow start, by round: median, and the interval that holds it with 95%. */
  gainMs: MedianInterval;
  /** Median time after slow start over that of the start. */
  speedup: number;
  /** Median drops after slow start, and of the start. */
  drops: { slowStart: number; start: number };
  emulatedGainMs: number;
}

/** @throws RangeError where a link lacks the flows of the start, or those after slow start */
export function gainsOf(times: readonly StartTimes[], bytes: number, factor: number): StartGain[] {
  const find = (link: Link, wanted: number | null): StartTimes => {
    const found = times.find(
      (each) => each.link === link.name && each.start.bytes === bytes && each.start.factor === wanted,
    );
    if (found === undefined) throw new RangeError(`${link.name}: no flows of ${bytes} bytes at ${wanted}`);
    return found;
  };
  return LINKS.map((link) => {
    const slow = find(link, null);
    const started = find(link, factor);
    const medianOf = ({ flows }: StartTimes, key: keyof StartedFlow) =>
      median(flows.map((flow) => flow[key]));
    return {
      link,
      gainMs: medianInterval(started.flows.map(({ timeMs }, round) => slow.flows[round]!.timeMs - timeMs)),
      speedup: medianOf(slow, 'timeMs') / medianOf(started, 'timeMs'),
      drops: { slowStart: medianOf(slow, 'drops'), start: medianOf(started, 'drops') },
      emulatedGainMs: slow.emulatedMs - started.emulatedMs,
    };
  });
}
