import {
  type CongestionControl,
  InputError,
  NETWORK_FLAGS,
  type NetworkFlagValues,
  type ServerChange,
} from '@hopwise/pageload-emulator';
import { type Command, InvalidArgumentError, Option } from 'commander';

/** Value of `--udp` that says nothing, like an absent flag; commander cannot parse a value to none. */
const UNKNOWN = 'unknown';

/** The flags' values without those that say nothing. */
export function knownFlags({ udp, ...flags }: CommandFlags): NetworkFlagValues {
  return udp === undefined || udp === UNKNOWN ? flags : { ...flags, udp };
}

/** The flags' values as commander gives them. */
export interface CommandFlags extends Omit<NetworkFlagValues, 'udp'> {
  udp?: NetworkFlagValues['udp'] | typeof UNKNOWN;
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
  const [, digits, unit] = /^(\d+(?:\.\d+)?)(mbit|x)$/.exec(value) ?? [];
  const number = Number(digits);
  if (unit === 'mbit' && number >= 0.01 && number <= MAX_MBPS) return { startBps: number * 1e6 };
  if (unit === 'x' && number >= 0.01 && number <= MAX_FACTOR) return { startShare: number };
  return null;
}

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
