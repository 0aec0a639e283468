import type {
  Assignment,
  KnownNetwork,
  KnownServer,
  MeasuredNetwork,
  Recording,
  ServerProfile,
  UdpTreatment,
} from '@hopwise/contract';
import { buildGraph } from '../graph/build-graph.ts';
import type { PageGraph } from '../graph/page-graph.ts';
import { ClusterPrior } from './cluster-prior.ts';
import type { NetworkEstimate } from './estimate-network.ts';
import type { NetworkCluster } from './network-cluster.ts';
import { type UploadEvidence, uploadEvidence } from './upload-evidence.ts';

/** Knowledge of the network besides a recording. */
export interface NetworkKnowledge {
  /** Figures of the network that are certain, for instance those of another network to ask about. */
  network?: KnownNetwork | undefined;
  /** Figures that real transfers showed; `network` takes precedence. */
  measured?: MeasuredNetwork | undefined;
  /** Known fields of single servers, which replace the estimated ones; matched by `origin`. */
  servers?: readonly KnownServer[] | undefined;
  /** What earlier loads on the same network showed (`learnNetwork`); its weight declines with its age at the recording. */
  cluster?: NetworkCluster | null | undefined;
  /**
   * Whether only rates and UDP's treatment are asked for, roughly: queue and loss then stay as they were known before, which takes a
   * third of the replays.
   */
  onlyRates?: boolean | undefined;
  /** Protocols that pins held origins to when the load was recorded: that their HTTP/3 went unused says nothing of UDP. */
  pinned?: Assignment | undefined;
}

/** All that the posterior of a network rests on. */
export interface PosteriorInput {
  recording: Recording;
  /** Returns the recording's page graph, built when it is first asked for: loads without HTTP/3 need it for measured loss alone. */
  graph: () => PageGraph;
  /** The recording's estimate, with the known fields of servers. */
  estimate: NetworkEstimate;
  /** Null where the recording has no uploads. */
  uploads: UploadEvidence | null;
  /** Figures that are certain. */
  given: KnownNetwork;
  measured: MeasuredNetwork;
  prior: ClusterPrior;
  /** UDP's treatment where it is given or measured. */
  udp: UdpTreatment | undefined;
  onlyRates: boolean;
  /** See `NetworkKnowledge`. */
  pinned: Assignment;
}

/** Gathers what the posterior of a network rests on. */
export function posteriorInput(
  recording: Recording,
  knowledge: NetworkKnowledge,
  estimate: NetworkEstimate,
): PosteriorInput {
  const { cluster = null, servers = [], onlyRates = false, pinned = {} } = knowledge;
  let graph: PageGraph | undefined;
  const given = defined(knowledge.network);
  const measured = defined(knowledge.measured);
  const recordedMs = Date.parse(recording.recordedAt);
  const known = new Map(servers.map((server) => [server.origin, server]));
  const withKnown = (profiles: readonly ServerProfile[]) =>
    profiles.map((profile) => ({ ...profile, ...known.get(profile.origin) }));
  return {
    recording,
    graph: () => {
      graph ??= buildGraph(recording);
      return graph;
    },
    estimate: {
      ...estimate,
      servers: withKnown(estimate.servers),
      serversOn: (linkBps) => withKnown(estimate.serversOn(linkBps)),
    },
    uploads: uploadEvidence(recording, estimate),
    given,
    measured,
    prior: new ClusterPrior(cluster, Number.isNaN(recordedMs) ? (cluster?.updatedAtMs ?? 0) : recordedMs),
    udp: given.udp ?? (measured.udp?.kind === 'unblocked' ? undefined : measured.udp),
    onlyRates,
    pinned,
  };
}

function defined<Known extends object>(known: Known | undefined): Partial<Known> {
  const entries = Object.entries(known ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<Known>;
}
