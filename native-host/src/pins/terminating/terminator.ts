/** What pins to a protocol need of the proxy that terminates TLS. */
import type { Protocol } from '@hopwise/contract';
import type { Route } from '../proxy/loopback-proxy.ts';

export interface Terminator {
  /** Why the host cannot be pinned to a protocol here, with the fix, in one line; '' when it can. */
  problem(host: string): string;
  /** Pins an origin, or pins it to another protocol. */
  pin(host: string, port: number, protocol: Protocol): void;
  /** Its connections end as soon as nothing is under way on them. An origin that is not pinned is no error. */
  unpin(host: string, port: number): void;
  /** What keeps a pinned origin from being terminated, in words for a person; '' when it is. */
  waitsFor(host: string, port: number): string;
  /** The way of one CONNECT: a tunnel while it is not known that the origin works under its protocol. */
  route(host: string, port: number): Route;
  /** The way of a CONNECT to a host's `TRUST_TRIAL_PORT`. */
  trial(host: string): Route;
  /** Hosts whose trial is waited for. */
  trials(): string[];
  /** Hosts that can be pinned. */
  hosts(): string[];
  close(): void;
}

export interface TerminatorHooks {
  /** The pin of the origin cannot be held: it is lifted and reported. */
  onLifted(host: string, port: number, reason: string): void;
  /** From now on the origin's connections are terminated: its tunnels end. */
  onReady(host: string, port: number): void;
  /** The origin is not terminated any more until it is known to be good again. */
  onDoubt(): void;
  log(line: string): void;
}

export type TerminatorFactory = (hooks: TerminatorHooks) => Terminator;
