import { MIN_CHECK_BYTES, parseCluster } from '@hopwise/pageload-emulator';
import { isSuitable } from '../autopilot/choosing/suitable-load.ts';
import { isShared } from '../load/load-quality.ts';
import type { StoredLoad } from '../storage/loads.ts';

/** On a link that is known to take longer for the least transfer, a policer matters little, and the check would slow pages down. */
const MAX_TRANSFER_MS = 1_200;

/** The parts of `navigator.connection` in use (Network Information API); Chromium only. */
interface Connection {
  saveData?: boolean;
  type?: string;
}

/** Whether a transfer may cost the person money, as far as the browser says. */
export function isMetered(connection = (navigator as { connection?: Connection }).connection): boolean {
  return connection?.saveData === true || connection?.type === 'cellular';
}

/** Whether the network of a load may be checked with transfers from the page's servers. Not while other tabs load, which take a part of the link. */
export const mayCheck = (load: StoredLoad): boolean =>
  !isMetered() && isSuitable(load, []) && !isSlow(load) && !isShared(load);

function isSlow({ cluster }: StoredLoad): boolean {
  const downBps = parseCluster(cluster)?.downBps;
  // The median: the figure is log-normal.
  return downBps !== undefined && (8_000 * MIN_CHECK_BYTES) / Math.exp(downBps.mean) > MAX_TRANSFER_MS;
}
