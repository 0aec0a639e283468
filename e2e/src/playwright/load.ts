/** One load of the replayed page, as a test gets it. */

import { siteInitScript } from '@hopwise/lab/browser/determinism';
import type { Lab } from '@hopwise/lab/client/lab';
import { type LabNetwork, toNetworkPath } from '@hopwise/lab/client/networks';
import type { View } from '@hopwise/lab/ground-truth/ground-truth';
import { type DisturbanceWatch, disturbedBy, watchDisturbance } from '@hopwise/lab/loads/disturbance';
import type { FailedLoad, Load, MeasuringBrowser } from '@hopwise/lab/loads/measuring-browser';
import type { Site } from '@hopwise/lab/sites/site';
import { type NetworkPath, type Prediction, predict, type Recording } from '@hopwise/pageload-emulator';
import { ReplayError } from './errors.ts';
import { type NamedLabNetwork, protocolName, type Replay, type ReplayProtocol } from './options.ts';

/** A load whose load event came. Times are milliseconds after navigationStart. */
export interface ReplayLoad extends Omit<Load, 'ok' | 'recording'> {
  /** The page's name, and the URL that was loaded. */
  page: string;
  url: string;
  protocol: ReplayProtocol;
  view: View;
  seed: number;
  /** The network that it was made on. */
  network: { name: string; path: NetworkPath };
  recording: Recording;
  /** How many disturbed loads were dropped before this one. */
  repeated: number;
  /** What disturbed this load; usually empty. */
  disturbedBy: string[];
}

/** What one load is made under. */
interface LoadPlan {
  lab: Lab;
  browser: MeasuringBrowser;
  page: string;
  site: Site;
  protocol: ReplayProtocol;
  network: NamedLabNetwork;
  seed: number;
  view: View;
  timeoutMs: number;
  /** Whether a disturbed load is kept at once. */
  disturbed: Required<Replay>['disturbed'];
  /** Closes the browser's connections. */
  closeConnections(): Promise<void>;
}

/** How often a disturbed load is repeated before it is kept: a machine that is still busy then is likely to stay so. */
const MAX_REPEATS = 1;
/** Allowance around a load: draining the link, starting Chromium, requests that end after the load event. */
const AROUND_LOAD_MS = 20_000;

/** How long `loadPage` may take. */
export const longestLoadMs = ({ timeoutMs, view }: Pick<LoadPlan, 'timeoutMs' | 'view'>): number =>
  (1 + MAX_REPEATS) * ((view === 'warm' ? 2 : 1) * timeoutMs + AROUND_LOAD_MS);

/** @throws ReplayError when the page's load event does not come */
export async function loadPage(plan: LoadPlan): Promise<ReplayLoad> {
  const { lab, browser, page, site, protocol, seed, view } = plan;
  const network = { ...plan.network.network, seed };
  const prepareLink = async () => {
    // Retransmissions of the previous load would use up bandwidth.
    await lab.drain();
    await lab.configure(network);
    await lab.resetStats();
  };
  for (let repeated = 0; ; repeated++) {
    let watch: DisturbanceWatch | undefined;
    let disturbance: string[] = [];
    await prepareLink();
    const load = await browser.load(site.entry, {
      timeoutMs: plan.timeoutMs,
      view,
      ...siteInitScript(site),
      betweenViews: async () => {
        await plan.closeConnections();
        await prepareLink();
      },
      onNavigation: async () => {
        watch = await watchDisturbance({ lab });
      },
      onLoadEvent: async () => {
        disturbance = watch ? disturbedBy(await watch.end()) : [];
      },
    });
    if (!load.ok) throw new ReplayError(failureOf(plan, network, load));
    if (disturbance.length > 0 && plan.disturbed !== 'keep' && repeated < MAX_REPEATS) continue;
    const { ok: _ok, recording, ...measured } = load;
    if (recording === null) throw new Error(`${titleOf(plan)}: the load was not recorded`);
    return {
      ...measured,
      page,
      url: site.entry,
      protocol,
      view,
      seed,
      network: { name: plan.network.name, path: toNetworkPath(network) },
      recording,
      repeated,
      disturbedBy: disturbance,
    };
  }
}

function failureOf(plan: LoadPlan, network: LabNetwork, failure: FailedLoad): string {
  const wantsQuic =
    plan.protocol === 'h3' ||
    (typeof plan.protocol === 'object' && Object.values(plan.protocol).includes('h3'));
  const hint = wantsQuic && network.udp === 'blocked' ? 'UDP is blocked on this network: ' : '';
  return `${titleOf(plan)}: ${hint}${failure.reason}`;
}

/** Such as `shop, lte-poor, h3`. */
export function titleOf({
  page,
  network,
  protocol,
  view,
}: {
  page: string;
  network: { name: string };
  protocol: ReplayProtocol;
  view: View;
}): string {
  return `${page}, ${network.name}, ${protocolName(protocol)}${view === 'warm' ? ', repeat view' : ''}`;
}

/** Which of some loads other work on the machine disturbed, in one sentence; '' for none. */
export function describeDisturbance(loads: readonly ReplayLoad[]): string {
  const disturbed = loads.filter(({ disturbedBy }) => disturbedBy.length > 0);
  if (disturbed.length === 0) return '';
  const causes = [...new Set(disturbed.flatMap(({ disturbedBy }) => disturbedBy))].join(', ');
  const which =
    loads.length === 1 ? 'It was a disturbed load' : `${disturbed.length} of them were disturbed loads`;
  return `${which} (${causes}): replay.disturbed: 'skip' skips the test then.`;
}

/** hopwise's prediction from a load's recording, given the network that the load was made on. */
export function predictionOf({ recording, network }: Pick<ReplayLoad, 'recording' | 'network'>): Prediction {
  return predict(recording, { network: network.path });
}
