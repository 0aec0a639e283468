/** The interface of the proxy that terminates TLS, for pins to a protocol. */
import type { AddressSpace, Protocol } from '@hopwise/contract';
import type { Route } from '../proxy/loopback-proxy.ts';

export interface Terminator {
  /** Why the host cannot be pinned to a protocol, with the fix, in one line; '' when it can. */
  problem(host: string): string;
  /** Pins an origin, or changes its pin. @param from bounds the addresses that it may be connected to. */
  pin(host: string, port: number, protocol: Protocol, from: AddressSpace): void;
  /** Its connections end as soon as they are idle. An origin that is not pinned is ignored. */
  unpin(host: string, port: number): void;
  /** What the pin of an origin waits for, for the user; '' when it is in effect. */
  waitsFor(host: string, port: number): string;
  /** The route of a CONNECT: a tunnel until the origin is known to work under its protocol. */
  route(host: string, port: number): Route;
  /** The route of a CONNECT to a host's `TRUST_TRIAL_PORT`. */
  trial(host: string): Route;
  /** Path of the trials' URLs, behind the slash: requests for other paths are not the browser's own. */
  readonly trialToken: string;
  /** Hosts whose trial has not taken place. */
  trials(): string[];
  /** Hosts that can be pinned. */
  hosts(): string[];
  close(): void;
}

export interface TerminatorHooks {
  /** The origin's pin does not work: it is lifted and reported. */
  onLifted(host: string, port: number, reason: string): void;
  /** The same, because the origin has no address that it may be connected to. */
  onAddressRefused(host: string, port: number, reason: string): void;
  /** The origin's connections are terminated from now on: its tunnels end. */
  onReady(host: string, port: number): void;
  /** The origin's connections are not terminated until it is known to work again. */
  onDoubt(): void;
  log(line: string): void;
}

export type TerminatorFactory = (hooks: TerminatorHooks) => Terminator;
