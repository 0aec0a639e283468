import type { RecordedRequest } from '@hopwise/contract';
import { parseCluster } from '@hopwise/pageload-emulator';
import { networkOf } from '../load/used-network.ts';
import type { StoredLoad } from '../storage/loads.ts';
import type { AutopilotSettings } from './autopilot-settings.ts';

type Navigation = Pick<StoredLoad, 'requestedUrl' | 'recording' | 'network'>;

/**
 * Whether a load is one that the autopilot may act on: a page of the internet over https that loaded from the site that was asked
 * for. Networks with a login page (captive portals) answer with a redirect to it, or from a private address.
 *
 * @param localOrigins origins without a public address that the user allows to be pinned
 */
export function isSuitable(load: Navigation, localOrigins: readonly string[]): boolean {
  const { url, requests } = load.recording;
  if (!url.startsWith('https://') || !isSameSite(load.requestedUrl, url)) return false;
  const document = requests.findLast(({ type }) => type === 'document');
  if (document === undefined || document.status < 200 || document.status >= 400) return false;
  return networkOf(load) === 'internet' || localOrigins.includes(new URL(url).origin);
}

/** Whether one host is the other or a subdomain of it, such as `www`. */
function isSameSite(a: string, b: string): boolean {
  const [from, to] = [new URL(a).hostname, new URL(b).hostname];
  return from === to || from.endsWith(`.${to}`) || to.endsWith(`.${from}`);
}

/** Where earlier loads show that surely that UDP is not hindered, HTTP/3 is right where servers offer it. */
const SURELY_OPEN = 0.95;

/**
 * Whether any action that the settings allow could change how a page loads. Saves the prediction of most loads: what keeps off HTTP/3
 * gains where UDP is hindered.
 *
 * @param isSurprising whether the load was slower than those before it
 */
export function hasChoice(
  { recording, cluster, check }: Navigation & Pick<StoredLoad, 'cluster' | 'check'>,
  { holdsProtocols, explores }: AutopilotSettings,
  isSurprising: boolean,
): boolean {
  if (holdsProtocols) return true;
  const isKnownOpen = check?.udp
    ? check.udp.kind === 'open'
    : (parseCluster(cluster)?.udp.open ?? 0) >= SURELY_OPEN;
  const isOpen = isKnownOpen && !explores && !isSurprising;
  return !isOpen && recording.requests.some(usesH3);
}

/** Whether a request went over HTTP/3, or to a server that offered it. */
export const usesH3 = ({ protocol, offersH3 }: RecordedRequest) => protocol === 'h3' || offersH3 === true;
