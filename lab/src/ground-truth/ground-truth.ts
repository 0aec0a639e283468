/**
 * A folder of measured loads: the ground truth that predictions are judged by. Written by `npm run lab`, read by
 * `npm run bench -- accuracy`.
 *
 *   matrix.json                        pages, networks, protocols, seeds, browser and servers
 *   loads/<page>--<network>.jsonl.gz   one `GroundTruthLoad` a line, each line a gzip member of its own
 */
import type { Assignment, Recording } from '@hopwise/pageload-emulator';
import type { LabFacts, LabStats } from '../client/lab.ts';
import type { LabNetwork } from '../client/networks.ts';
import type { ServerStack } from '../client/server-stack.ts';
import type { Disturbance } from '../loads/disturbance.ts';
import type { ProtocolMode } from '../loads/protocol-args.ts';

/** What a load was made under: a protocol for all origins, the browser's own choice, or one for each origin. */
export type LoadProtocol = ProtocolMode | 'assigned';

/** `cold`: empty cache, no connections; `warm`: the repeat view, with the cache and the sessions of the first. */
export type View = 'cold' | 'warm';

/** One load that was kept, as one line of JSON. Milliseconds, bytes, fractions. */
export interface GroundTruthLoad {
  format: 'hopwise-measured-load';
  version: 1;
  page: string;
  network: string;
  protocol: LoadProtocol;
  /** Only loads of `assigned` have one. */
  assignment?: Assignment;
  view: View;
  /** Seeds the link's losses, together with page and network; loads of one seed meet the same losses under every protocol. */
  seed: number;
  /** ISO 8601. */
  at: string;
  /** Disturbed loads that were dropped and repeated before this one. */
  repeated: number;
  /**
   * Earlier tries without a load event; each further try met other losses of the link (`linkSeed`). Absent from loads of old
   * versions, whose second try met the same losses as the first.
   */
  failures?: number;
  disturbance: Disturbance;
  /**
   * Kept although disturbed, because the machine did not become quiet: left out of every judgement. A later load may have the
   * same seed.
   */
  disturbed: boolean;
  /** Packets that the link dropped during the load. */
  drops: { down: LabStats['down']['drops']; up: LabStats['up']['drops'] };
  outcome: GroundTruthOutcome;
}

export type GroundTruthOutcome =
  | {
      ok: true;
      pltMs: number;
      fcpMs: number | null;
      lcpMs: number | null;
      /**
       * At least one request went over the network, and every one that did was proved to be on its protocol. A repeat view that
       * the cache answered entirely proves nothing.
       */
      proved: boolean;
      failed: { url: string; reason: string }[];
      recording: Recording;
    }
  /** `browser` says nothing about a protocol and appears only in folders of old versions. */
  | { ok: false; kind: 'unreachable' | 'timeout' | 'browser'; reason: string };

/** `matrix.json`. */
export interface GroundTruthMatrix {
  format: 'hopwise-ground-truth';
  version: 1;
  /** By name; `network` is the link as configured, without seed. */
  networks: Record<string, { title: string; network: LabNetwork }>;
  /** By name, with what distinguishes pages of the same name. */
  pages: Record<string, { source: string; requests: number; origins: number; bytes: number; digest: string }>;
  protocols: LoadProtocol[];
  views: View[];
  seeds: number[];
  /** Name and version, such as `Chromium headless shell 156.0.…`. */
  browser: string;
  server: {
    /** `go` when absent. */
    stack?: ServerStack;
    congestionControl: 'cubic' | 'reno' | 'bbr';
    initialWindow: number;
    priorities: 'honoured' | 'ignored';
    /** The server of HTTP/1.1 and HTTP/2. Absent in folders of old versions. */
    tcp?: LabFacts['tcp'];
    /** Constants of the HTTP/3 servers' stack; absent in folders of old versions, and where no page has HTTP/3. */
    quic?: NonNullable<LabFacts['quic']>;
  };
  /** Scheduling of the link's threads. Absent in folders of old versions. */
  scheduling?: LabFacts['scheduling'];
  /** IP version that host names resolve to; 4 when absent. */
  ipVersion?: 4 | 6;
  /** Time limit for the load event. Absent in folders of old versions. */
  timeoutMs?: number;
  machine: { cpu: string; cores: number; kernel: string };
}
