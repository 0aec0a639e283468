/**
 * A folder of measured loads: the ground truth that predictions are judged by. Written by `npm run lab`, read by
 * `npm run bench:accuracy`.
 *
 *   matrix.json                        what was asked for, with which browser, servers and networks
 *   loads/<page>--<network>.jsonl.gz   one `GroundTruthLoad` a line, each line a gzip member of its own
 */
import type { Assignment, Recording } from '@hopwise/pageload-emulator';
import type { LabFacts, LabStats } from '../client/lab.ts';
import type { LabNetwork } from '../client/networks.ts';
import type { Disturbance } from '../loads/disturbance.ts';
import type { ProtocolMode } from '../loads/protocol-args.ts';

/** What a load was made under: a protocol for all origins, the browser's own choice, or one for each origin. */
export type LoadProtocol = ProtocolMode | 'assigned';

/** `cold`: empty cache, no connections; `warm`: the repeat view, with the cache and the sessions of the first. */
export type View = 'cold' | 'warm';

/** One load that was kept, as one line of JSON. Milliseconds, bytes, fractions. */
export interface GroundTruthLoad {
  format: 'hopwise-load';
  version: 1;
  page: string;
  network: string;
  protocol: LoadProtocol;
  /** Of `assigned` only. */
  assignment?: Assignment;
  view: View;
  /** Of the link's losses, with page and network; loads of one seed meet the same chances under every protocol. */
  seed: number;
  /** ISO 8601. */
  at: string;
  /** Dropped and taken again before this one, for their disturbance. */
  repeated: number;
  /**
   * Tries before this one that did not come to their load event; each next one met other chances of the link (`linkSeed`).
   * Absent where nobody counted; such loads' second try met the chances of the first.
   */
  failures?: number;
  disturbance: Disturbance;
  /** Kept although it was disturbed, as the machine would not be quiet: left out of every judgement. A load of the same seed may have been made again later. */
  disturbed: boolean;
  /** What the link dropped while the load was watched. */
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
       * Every request that went over the network was proved to be on its protocol, and there was one: a repeat view that
       * the cache answered whole proves nothing.
       */
      proved: boolean;
      failed: { url: string; reason: string }[];
      recording: Recording;
    }
  /** `browser`, which says nothing of a protocol, is kept no longer. */
  | { ok: false; kind: 'unreachable' | 'timeout' | 'browser'; reason: string };

/** `matrix.json`. */
export interface GroundTruthMatrix {
  format: 'hopwise-ground-truth';
  version: 1;
  /** By name; `network` is what the lab was told, without seed. */
  networks: Record<string, { title: string; network: LabNetwork }>;
  /** By name, with what tells one page from another of that name. */
  pages: Record<string, { source: string; requests: number; origins: number; bytes: number; digest: string }>;
  protocols: LoadProtocol[];
  views: View[];
  seeds: number[];
  /** As `Chromium headless shell 156.0.…`. */
  browser: string;
  server: {
    congestionControl: 'cubic' | 'reno' | 'bbr';
    initialWindow: number;
    priorities: 'honoured' | 'ignored';
    /** What the HTTP/3 servers' stack does. Absent where nobody wrote it down. */
    quic?: LabFacts['quic'];
  };
  /** Of the link's threads. Absent where nobody wrote it down. */
  scheduling?: LabFacts['scheduling'];
  /** What host names resolve to; 4 when absent. */
  ipVersion?: 4 | 6;
  /** Time that a load had for its load event. Absent where nobody wrote it down. */
  timeoutMs?: number;
  machine: { cpu: string; cores: number; kernel: string };
}
