/** Networks that the lab emulates, and the named ones of `lab/networks.json`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readingProblem } from '@hopwise/contract/command-line';
import { type NetworkPath, udpTreatment } from '@hopwise/pageload-emulator';
import * as z from 'zod';
import { describeIssue } from '../command/describe-issue.ts';
import { ROOT } from '../paths.ts';

const fraction = z.number().min(0).max(1);
const milliseconds = z.number().min(0).max(60_000);
const megabits = z.number().min(0.001).max(10_000);

/** Limit of the drop-tail queue of each direction: bytes, time to drain at its rate, or a multiple of rate × round trip. */
const queueSchema = z.union([
  z.strictObject({
    bytes: z
      .number()
      .positive()
      .max(2 ** 30),
  }),
  z.strictObject({ ms: z.number().positive().max(60_000) }),
  z.strictObject({ bdp: z.number().positive().max(1000) }),
]);

/** A network as the lab takes it. Rates are in Mbit/s of IP packets, loss a fraction per packet and direction. */
export const networkSchema = z.strictObject({
  /** Round trip without queueing. */
  rttMs: milliseconds,
  downMbps: megabits,
  upMbps: megabits,
  loss: z.number().min(0).max(0.9),
  /** Mean length of a run of lost packets; 1 for independent losses. */
  lossBurst: z.number().min(1).max(1000),
  queue: queueSchema,
  /** `policedMbps` is the rate of a token bucket in each direction; `burstBytes` is 50 ms at that rate unless given. */
  udp: z.union([
    z.literal(['open', 'blocked']),
    z.strictObject({
      policedMbps: megabits,
      burstBytes: z
        .number()
        .positive()
        .max(2 ** 30)
        .optional(),
    }),
  ]),
  /** Independent loss of UDP packets besides `loss`. */
  udpLoss: fraction.optional(),
  /** Upper end of an additional uniform delay of each packet. */
  jitterMs: milliseconds.optional(),
  /** Holds this fraction of packets back for `delayMs`. */
  reorder: z.strictObject({ rate: fraction, delayMs: milliseconds }).optional(),
  /** Restarts the losses; without a seed the losses continue where they were. */
  seed: z.int().nonnegative().optional(),
});

/** The link between the browser and the servers, as the lab emulates it. */
export type LabNetwork = z.infer<typeof networkSchema>;

/** Nothing is lost or queued for long: what goes wrong with a page on it is the page's own fault. */
export const EASY_NETWORK: LabNetwork = {
  rttMs: 10,
  downMbps: 100,
  upMbps: 100,
  loss: 0,
  lossBurst: 1,
  queue: { ms: 100 },
  udp: 'open',
};

const profileSchema = z.strictObject({
  ...networkSchema.omit({ seed: true }).shape,
  title: z.string(),
  /** Where each figure comes from; "assumed" where no measurement is behind it. */
  source: z.record(z.string(), z.string()),
});

export type NetworkProfile = z.infer<typeof profileSchema>;

/** Form of networks' names: they are used in file names and in comma-separated lists. */
export const NETWORK_NAME = /^[a-z0-9-]+$/;

const profilesSchema = z.record(z.string().regex(NETWORK_NAME), profileSchema);

const PROFILES_FILE = join(ROOT, 'lab/networks.json');

/** @throws with one line that names the file and the entry. */
export function readProfiles(file = PROFILES_FILE): Record<string, NetworkProfile> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${file}: expected a readable file, ${readingProblem(error)}`);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new Error(`${file}: expected JSON: ${(error as Error).message}`);
  }
  const parsed = profilesSchema.safeParse(content);
  if (!parsed.success) throw new Error(`${file}: ${describeIssue(parsed.error.issues, content)}`);
  return parsed.data;
}

/** @throws with one line that lists the known names. */
export function profileNamed(name: string, profiles = readProfiles()): NetworkProfile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (!profile) {
    throw new Error(`network ${JSON.stringify(name)}: expected one of ${Object.keys(profiles).join(', ')}`);
  }
  return profile;
}

/** The link that a profile describes. */
export function networkOf(profile: NetworkProfile, seed?: number): LabNetwork {
  const { title: _title, source: _source, ...network } = profile;
  return seed === undefined ? network : { ...network, seed };
}

/** @throws with one line that names the figure. */
export function checkNetwork(network: unknown): LabNetwork {
  const parsed = networkSchema.safeParse(network);
  if (!parsed.success) throw new Error(describeIssue(parsed.error.issues, network, ['network']));
  return parsed.data;
}

/**
 * The emulated path in the emulator's terms. It drops jitter, reordering and UDP loss in addition to a policer (`unmodelled`
 * lists those in use), and the limit of the upstream queue.
 */
export function toNetworkPath(network: LabNetwork): NetworkPath {
  return {
    rttMs: network.rttMs,
    downBps: network.downMbps * 1e6,
    upBps: network.upMbps * 1e6,
    loss: network.loss,
    lossBurst: network.lossBurst,
    queueBytes: queueBytes(network),
    udp: pathUdp(network),
  };
}

function pathUdp({ udp, udpLoss = 0 }: LabNetwork): NetworkPath['udp'] {
  if (udp === 'open' && udpLoss > 0) return { kind: 'lossy', loss: udpLoss };
  if (typeof udp === 'string') return udpTreatment(udp);
  const { policedMbps, burstBytes } = udp;
  return { ...udpTreatment(policedMbps), ...(burstBytes !== undefined && { burstBytes }) };
}

/** A treatment of UDP as the lab takes it. */
export function labUdp(udp: NetworkPath['udp']): Pick<LabNetwork, 'udp' | 'udpLoss'> {
  if (udp.kind === 'lossy') return { udp: 'open', udpLoss: udp.loss };
  if (udp.kind !== 'policed') return { udp: udp.kind };
  const { bps, burstBytes } = udp;
  return { udp: { policedMbps: bps / 1e6, ...(burstBytes !== undefined && { burstBytes }) } };
}

/** Figures of a network that `toNetworkPath` cannot express, by name. */
export function unmodelled(network: LabNetwork): string[] {
  return [
    network.jitterMs ? 'jitterMs' : '',
    network.reorder && network.reorder.rate > 0 && network.reorder.delayMs > 0 ? 'reorder' : '',
    network.udpLoss && typeof network.udp === 'object' ? 'udpLoss' : '',
  ].filter((figure) => figure !== '');
}

/** Limit of the downstream queue. */
function queueBytes({ queue, downMbps, rttMs }: LabNetwork): number {
  if ('bytes' in queue) return queue.bytes;
  const drainMs = 'ms' in queue ? queue.ms : queue.bdp * rttMs;
  return Math.ceil((downMbps * 1e6 * drainMs) / 8e3);
}
