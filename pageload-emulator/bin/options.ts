import { MEGABITS, readQuantity } from '@hopwise/contract';
import {
  type CongestionControl,
  InputError,
  NAMED_NETWORKS,
  NETWORK_FLAGS,
  NETWORK_NAMES,
  type NetworkFlagValues,
  type NetworkName,
  type ServerChange,
  udpTreatment,
} from '@hopwise/pageload-emulator';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** Value of `--udp` that says nothing, like an absent flag; commander cannot parse a value to none. */
const UNKNOWN = 'unknown';

/** The flags' values, over those of a named network, without those that say nothing. */
export function knownFlags({ udp, network, ...flags }: CommandFlags): NetworkFlagValues {
  const { udp: namedUdp, ...named } = network === undefined ? {} : namedFlags(network);
  const known = { ...named, ...flags };
  if (udp === UNKNOWN) return known;
  const treatment = udp ?? namedUdp;
  return treatment === undefined ? known : { ...known, udp: treatment };
}

/** A named network as the flags would give it. */
function namedFlags(name: NetworkName): NetworkFlagValues {
  const { rttMs, downMbps, upMbps, loss, lossBurst, queueMs, udp } = NAMED_NETWORKS[name];
  return { rtt: rttMs, down: downMbps, up: upMbps, loss, lossBurst, queue: queueMs, udp: udpTreatment(udp) };
}

/** The flags' values as commander gives them. */
export interface CommandFlags extends Omit<NetworkFlagValues, 'udp'> {
  network?: NetworkName;
  udp?: NetworkFlagValues['udp'] | typeof UNKNOWN;
}

/** Offers the flag that gives all figures of a usual network at once. */
export function withNamedNetwork(command: Command): Command {
  return command.addOption(
    new Option('--network <name>', 'a usual network, whose single figures the flags below replace').choices(
      NETWORK_NAMES,
    ),
  );
}

/** Offers the flags that give figures of the network. */
export function withNetworkFlags(command: Command, flags = NETWORK_FLAGS): Command {
  for (const { name, usage, description, parse } of flags) {
    const option =
      name === 'udp'
        ? new Option(usage, `${description}; ${UNKNOWN}, the default, leaves it to the recording`).argParser(
            argument((text) => (text === UNKNOWN ? text : parse(text))),
          )
        : new Option(usage, description).argParser(argument(parse));
    command.addOption(option);
  }
  return command;
}

/** A parser of the library's as commander calls it. */
export function argument<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw error instanceof InputError ? new InvalidArgumentError(error.message) : error;
    }
  };
}

const CONTROLS: readonly CongestionControl[] = ['cubic', 'reno', 'bbr', 'hybla', 'quiche-cubic'];
const MAX_PACKETS = 1_000;
const MAX_MBPS = 100_000;
const MAX_FACTOR = 100;

/** Collects `iw=32`, `cc=bbr`, `start=20mbit`, `start=2x`: what changed servers would change. */
export function serverChange(text: string, before: ServerChange | undefined): ServerChange {
  const at = text.indexOf('=');
  const change = changeOf(text.slice(0, Math.max(0, at)), text.slice(at + 1));
  if (change === null) {
    throw new InvalidArgumentError(
      `expected iw=PACKETS (1 to ${MAX_PACKETS}), cc=${CONTROLS.join('|')}, start=MBITmbit or start=FACTORx, got "${text}".`,
    );
  }
  return { ...before, ...change };
}

function changeOf(name: string, value: string): ServerChange | null {
  if (name === 'iw') {
    const initialWindow = Number(value);
    const isUsable = Number.isInteger(initialWindow) && initialWindow >= 1 && initialWindow <= MAX_PACKETS;
    return isUsable ? { initialWindow } : null;
  }
  if (name === 'cc') {
    const congestionControl = CONTROLS.find((control) => control === value);
    return congestionControl === undefined ? null : { congestionControl };
  }
  if (name !== 'start') return null;
  const [, factor] = /^(\d+(?:\.\d+)?)x$/.exec(value) ?? [];
  if (factor !== undefined) {
    const startShare = Number(factor);
    return startShare >= 0.01 && startShare <= MAX_FACTOR ? { startShare } : null;
  }
  // A bare number could be either.
  const mbps = /[a-z]/i.test(value) ? readQuantity(value, MEGABITS) : Number.NaN;
  return mbps >= 0.01 && mbps <= MAX_MBPS ? { startBps: mbps * 1e6 } : null;
}

/** How many rows of long lists are shown. */
export interface ListFlags {
  all?: boolean;
  top?: number;
}

/** Offers the flags that decide how many rows of long lists are shown. */
export function withListFlags(command: Command): Command {
  return command
    .addOption(new Option('--all', 'shows every row, not only what matters').conflicts(['top', 'json']))
    .addOption(
      new Option('--top <n>', 'shows so many rows of each list, the weightiest')
        .argParser(wholeNumber(1, 100_000))
        .conflicts('json'),
    );
}

/** The most rows of a list that is cut at `usual` rows unless the flags say otherwise. */
export const rowLimit = ({ all, top }: ListFlags, usual: number): number =>
  all ? Number.POSITIVE_INFINITY : (top ?? usual);

/** Reads a whole number within bounds. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}, got "${text}".`);
    }
    return value;
  };
}
