import { type NetworkPath, PROTOCOLS, type Protocol } from '@hopwise/contract';

/** Distribution of the logarithm of a load time over that under HTTP/2. */
interface LogRatio {
  mean: number;
  deviation: number;
}

/**
 * What measured loads of many pages showed of the protocols before anything of this page is known: the distribution of
 * log(PLT / PLT over HTTP/2), linear in the logarithm of the round trip. It is applied to the part of a load time that depends on the
 * protocol, which was most of it on these pages. Where UDP is policed, the ratio of HTTP/3 is vague, as it
 * depends on the policer's rate and the page's bytes, which the emulation has; where UDP is lossy, there is none.
 *
 * The figures are those of the 96 cells of `docs/ground-truth.md` in which UDP is open: 12 pages, half of them generated and half recorded
 * on the web, on 8 networks. The deviations are those of its 72 cells without random loss, as losses make the medians of five loads scatter.
 * Pages differ by more than those of one generator do: three generated pages alone had deviations of 0.1, so that experience outweighed
 * the emulation of the page at hand four to one. `npm run bench -- accuracy DIR` prints the same fit of any folder of measured loads.
 * Their server is the lab's (quic-go), so other servers may differ by more.
 */
const LOG_RATIOS: Record<Exclude<Protocol, 'h2'>, LogRatio & { slope: number }> = {
  h1: { mean: 0.15, slope: 0.015, deviation: 0.15 },
  h3: { mean: -0.175, slope: -0.035, deviation: 0.14 },
};
/** HTTP/3 where UDP is policed to 1 to 4 Mbit/s: means of a golden network (3 pages) and of 3 training ones of the gauntlet. */
const POLICED: LogRatio = { mean: 0.85, deviation: 0.75 };
/** Round trip to which the means belong, milliseconds. */
export const REFERENCE_RTT_MS = 50;
/** Round trips beyond these, milliseconds, were not measured. */
const SHORTEST_RTT_MS = 5;
const LONGEST_RTT_MS = 400;

export function experienceOf(path: NetworkPath): Partial<Record<Protocol, LogRatio>> {
  const rttMs = Math.min(LONGEST_RTT_MS, Math.max(SHORTEST_RTT_MS, path.rttMs));
  const at = ({ mean, slope, deviation }: LogRatio & { slope: number }) => ({
    mean: mean + slope * Math.log(rttMs / REFERENCE_RTT_MS),
    deviation,
  });
  const h1 = at(LOG_RATIOS.h1);
  switch (path.udp.kind) {
    case 'open':
      return { h1, h3: at(LOG_RATIOS.h3) };
    case 'policed':
      return { h1, h3: POLICED };
    default:
      return { h1 };
  }
}

/** The protocol that is usually the fastest on such a path; HTTP/2 where experience of HTTP/3 is lacking. */
export function fastestByExperience(path: NetworkPath): Protocol {
  const ratios = experienceOf(path);
  const meanOf = (protocol: Protocol) =>
    ratios[protocol]?.mean ?? (protocol === 'h2' ? 0 : Number.POSITIVE_INFINITY);
  return PROTOCOLS.reduce((a, b) => (meanOf(b) < meanOf(a) ? b : a));
}
