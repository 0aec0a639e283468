import type { Assignment, Language, MeasuredNetwork, Verification } from '@hopwise/contract';
import type { NetworkCluster, Prediction, Recording } from '@hopwise/pageload-emulator';

/** A page load with its prediction and verification. */
export interface StoredLoad {
  /** Assigned by the store, ascending. */
  id: number;
  /** URL of the navigation before redirects; `recording.url` is the final one. */
  requestedUrl: string;
  recording: Recording;
  /** Whether numbers stand in place of the query strings in `requestedUrl` and `recording`, see `UrlStripper`. */
  hidesQueries: boolean;
  /** When it was first stored, milliseconds since 1970. */
  storedAtMs: number;
  /**
   * `local`: requests went to this machine or a private address; `unknown`: nothing was requested over a network, or through the
   * helper from origins that may have such an address. Absent in loads that an earlier version stored.
   */
  network?: 'internet' | 'local' | 'unknown';
  /** Key of the network, as the helper recognises it; null or absent if it does not. */
  networkKey?: string | null;
  /** Summary of the network from earlier loads; null for none, absent in loads that an earlier version stored. */
  cluster?: NetworkCluster | null;
  /**
   * Protocols that pins held the page's origins to, empty without pins; null when pins changed during the load, or did not hold. Absent
   * in loads that an earlier version stored.
   */
  pinned?: Assignment | null;
  /** Whether its tab was shown when the load settled; absent in loads that an earlier version stored. */
  wasVisible?: boolean;
  /** Whether its tab was hidden when the load began; absent in loads that an earlier version stored. */
  wasHidden?: boolean;
  /** Whether its tab was hidden as the load event ended; absent for false. */
  endedHidden?: boolean;
  /** For which share of its load other tabs loaded too, 0 to 1; absent in loads that an earlier version stored. */
  overlap?: number;
  /** Whether the server answered with the error that all of the page's last loads had, see `answersAlike`; absent for false. */
  answersAlike?: boolean;
  /** Whether every request was observed, and what made it, and not the page's own timings alone; absent for true. */
  isDetailed?: boolean;
  /** What the check of its network has measured; absent for none. */
  check?: MeasuredNetwork;
  /** Null until the popup or panel first shows the load, and when the recording cannot be emulated. */
  prediction: Prediction | null;
  /** Why there is no prediction, '' otherwise. */
  problem: string;
  verification: Verification | null;
  /** Prediction with the network figures of the verification. */
  verifiedPrediction: Prediction | null;
  /** In which the predictions' sentences are written; absent for English in loads that an earlier version predicted. */
  language?: Language;
}

/** The prediction to show: the one that rests on a verification where there is one. */
export const predictionOf = ({
  verifiedPrediction,
  prediction,
}: Pick<StoredLoad, 'verifiedPrediction' | 'prediction'>) => verifiedPrediction ?? prediction ?? null;
