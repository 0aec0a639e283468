/** What a test asks for: page, network, protocol. */

import { checkNetwork, type LabNetwork, networkOf, profileNamed } from '@hopwise/lab/client/networks';
import { describeIssue } from '@hopwise/lab/command/describe-issue';
import type { View } from '@hopwise/lab/ground-truth/ground-truth';
import type { BrowserProtocol, ProtocolMode } from '@hopwise/lab/loads/protocol-args';
import type { Site } from '@hopwise/lab/sites/site';
import { type Assignment, lossIn, PROTOCOLS, type Protocol } from '@hopwise/pageload-emulator';
import * as z from 'zod';
import { ReplayError } from './errors.ts';

/** A profile's name, your own figures, or a profile with some figures replaced. */
export type ReplayNetwork = string | (Partial<Omit<LabNetwork, 'seed'>> & { profile?: string });

/** One protocol for every request, the browser's own choice, or a protocol for each origin (`https://host`). */
export type ReplayProtocol = ProtocolMode | Assignment;

/** What a test replays, on which network and by which protocol. */
export interface Replay {
  /**
   * The page, as `npm start -- --page` takes it: a bundled one (`shop`, `news`, `app`), a generated one (`web-7`,
   * `web-p75`), a HAR or recording (plain or gzipped), a folder with `site.json` such as `npm run lab -- record` makes, or a
   * page of a registry package (`npm:agency`). A path is relative to the configuration's folder.
   */
  page: string;
  /** `cable` unless given. */
  network?: ReplayNetwork;
  /** `natural` unless given. */
  protocol?: ReplayProtocol;
  /** Seed of the link's losses: the same seed loses the same packets. 1 unless given. */
  seed?: number;
  /** What the page's hosts resolve to; 4 unless given. */
  ipVersion?: 4 | 6;
  /** `cold` unless given; `warm` is the repeat view. */
  view?: View;
  /**
   * What becomes of a load that other work on the machine disturbed. `repeat`, unless given: it is made a second time, and that one is kept.
   * `skip`: where that one is disturbed too, the test is skipped. `keep`: it is kept at once, for tests that judge no times.
   */
  disturbed?: 'repeat' | 'skip' | 'keep';
}

/** The option for `test.use` and for `use` in the configuration. A group's takes the place of its file's. */
export interface ReplayOptions {
  replay: Replay | undefined;
}

/** What differs in one load from the test's `replay`. */
export type LoadChanges = Pick<Replay, 'network' | 'protocol' | 'seed' | 'view'> & {
  /** Time to the load event; 60,000 ms unless given. It does not count against the test's timeout. */
  timeoutMs?: number;
};

// Networks and protocols are checked where they are used, with more specific messages.
const network = z.custom<ReplayNetwork>();
const protocol = z.custom<ReplayProtocol>();
const seed = z
  .int()
  .min(0)
  .max(2 ** 31);
const view = z.enum(['cold', 'warm']);

const replaySchema = z.strictObject({
  page: z.string().min(1),
  network: network.default('cable'),
  protocol: protocol.default('natural'),
  seed: seed.default(1),
  ipVersion: z.literal([4, 6]).default(4),
  view: view.default('cold'),
  disturbed: z.enum(['repeat', 'skip', 'keep']).default('repeat'),
});

const changesSchema = z.strictObject({
  network: network.optional(),
  protocol: protocol.optional(),
  seed: seed.optional(),
  view: view.optional(),
  timeoutMs: z.number().positive().optional(),
});

/**
 * With its defaults.
 *
 * @throws ReplayError naming the entry
 */
export function replayOf(given: unknown): Required<Replay> {
  if (given === undefined) {
    throw new ReplayError("replay: expected a page to replay, as in test.use({ replay: { page: 'shop' } })");
  }
  const parsed = replaySchema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new ReplayError(describeIssue(parsed.error.issues, given, ['replay']));
}

/**
 * The changes of one load, checked: a misspelt one would otherwise load the page as if it were not there.
 *
 * @throws ReplayError naming the entry
 */
export function changesOf(given: unknown): LoadChanges {
  const parsed = changesSchema.safeParse(given);
  if (parsed.success) return parsed.data as LoadChanges;
  throw new ReplayError(describeIssue(parsed.error.issues, given, ['load']));
}

/** A network as the lab takes it, with a name for people. */
export interface NamedLabNetwork {
  name: string;
  network: LabNetwork;
}

/** What figures alone leave out, as in networks of `hopwise check`. */
const USUAL_FIGURES = { loss: 0, lossBurst: 1, queue: { bdp: 1 }, udp: 'open' } as const;

/** @throws ReplayError naming the figure, or listing the profiles */
export function namedNetwork(wanted: ReplayNetwork): NamedLabNetwork {
  try {
    if (typeof wanted === 'string') return { name: wanted, network: networkOf(profileNamed(wanted)) };
    const { profile, ...figures } = wanted;
    const network = checkNetwork({
      ...(profile === undefined ? USUAL_FIGURES : networkOf(profileNamed(profile))),
      ...figures,
    });
    return { name: nameOf(network, profile, Object.keys(figures).length > 0), network };
  } catch (error) {
    throw new ReplayError(error);
  }
}

function nameOf(network: LabNetwork, profile: string | undefined, isChanged: boolean): string {
  if (profile !== undefined) return isChanged ? `${profile}, changed` : profile;
  return `${network.rttMs} ms, ${network.downMbps}/${network.upMbps} Mbit/s, loss ${lossIn('en', network.loss)}`;
}

const assignmentSchema = z.record(z.string().regex(/^https:\/\/[a-z0-9.-]+$/), z.enum(PROTOCOLS));
const protocolSchema = z.union([z.enum([...PROTOCOLS, 'natural']), assignmentSchema]);
const ASSIGNED = 'an object with h1, h2 or h3 for each origin (https://host)';

/**
 * @param origins those of the page; an assignment has to name each, with a protocol that it offers
 * @throws ReplayError
 */
export function browserProtocol(wanted: ReplayProtocol, origins: Site['origins']): BrowserProtocol {
  const parsed = protocolSchema.safeParse(wanted);
  if (!parsed.success) {
    throw new ReplayError(`protocol ${JSON.stringify(wanted)}: expected h1, h2, h3, natural, or ${ASSIGNED}`);
  }
  if (typeof parsed.data === 'string') return parsed.data;
  const assignment = parsed.data;
  for (const { origin, protocols } of origins) {
    const protocol = assignment[origin];
    if (protocol && protocols.includes(protocol)) continue;
    throw new ReplayError(
      `protocol: ${origin}: expected ${protocols.join(' or ')} to be assigned, got ${protocol ?? 'nothing'}`,
    );
  }
  const known = origins.map(({ origin }) => origin);
  const foreign = Object.keys(assignment).find((origin) => !known.includes(origin));
  if (foreign)
    throw new ReplayError(`protocol: ${foreign}: expected an origin of the page (${known.join(', ')})`);
  return { assignment };
}

/**
 * A protocol, or one for each origin, that loads can be proved to use.
 *
 * @param place what takes it, for the message
 * @throws ReplayError
 */
export function provableProtocol(place: string, wanted: unknown): Protocol | Assignment {
  const parsed = z.union([z.enum(PROTOCOLS), assignmentSchema]).safeParse(wanted);
  if (parsed.success) return parsed.data;
  throw new ReplayError(`${place}: expected h1, h2, h3, or ${ASSIGNED}, got ${JSON.stringify(wanted)}`);
}

/**
 * Refuses HTTP/3 where no packet of it arrives, before a page says so in the browser's words.
 *
 * @param option what names both, for the message
 * @throws ReplayError
 */
export function requireReachable(
  option: string,
  protocol: ReplayProtocol,
  { name, network }: NamedLabNetwork,
): void {
  if (protocol !== 'h3' || network.udp !== 'blocked') return;
  throw new ReplayError(
    `${option}.protocol: expected natural, h1 or h2 on ${name}, which blocks UDP: no page loads over h3`,
  );
}

/** The protocol's name in reports. */
export const protocolName = (protocol: ReplayProtocol): string =>
  typeof protocol === 'string' ? protocol : 'assigned';
