/** What pins to a protocol need of the proxy that terminates TLS. */
import type { Protocol } from '@hopwise/native-host/messages';
import type { Route } from './proxy/loopback-proxy.ts';

export interface Terminator {
  /** Why the origin cannot be pinned to the protocol here, with the mend, in one line; '' when it can. */
  problem(origin: string, protocol: Protocol): string;
  /** The way of one CONNECT: a tunnel while it is not known that the origin works under the protocol. */
  route(host: string, port: number, protocol: Protocol): Route;
  /** For an origin whose pin ended or changed: its connections end as soon as nothing is under way on them. */
  release(host: string, port: number): void;
  close(): Promise<void>;
}

export interface TerminatorHooks {
  /** The pin of the origin to this protocol cannot be held: it is lifted and reported. */
  onLifted(origin: string, protocol: Protocol, reason: string): void;
  log(line: string): void;
}

export type TerminatorFactory = (hooks: TerminatorHooks) => Terminator;
