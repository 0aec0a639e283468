import type { RecordedRequest } from '@hopwise/contract';
import type { NetworkCluster } from '@hopwise/pageload-emulator';
import type { Visits } from '../../evidence/visit-kind.ts';
import { networkOf } from '../../load/used-network.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import type { AutopilotSettings } from '../settings/autopilot-settings.ts';

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

/**
 * Keeping HTTP/3 off is worthwhile where it helps with a chance of 0.8 (`decide/judge-action.ts` of the emulator). Where UDP is open it
 * rarely does, and where UDP is blocked browsers do without HTTP/3 by themselves, so that UDP must be held back with half of that chance at least.
 */
const SUSPECTED = 0.4;

/** Whether UDP may be held back so probably that something could be gained, by what is known of a network; also where nothing is. */
const suspectsUdp = (known: NetworkCluster | null): boolean =>
  known === null || known.udp.policed >= SUSPECTED;

/**
 * Whether any action that the settings allow could change how a page loads. Saves the prediction of most loads: what keeps off HTTP/3
 * gains where UDP is held back.
 *
 * @param known of the network, with what the load itself shows; null for nothing
 * @param visits to the network's pages, which show what servers a browser uses HTTP/3 with
 */
export function hasChoice(
  { recording, check, verification }: Pick<StoredLoad, 'recording' | 'check' | 'verification'>,
  { holdsProtocols, explores }: AutopilotSettings,
  known: NetworkCluster | null,
  visits: Pick<Visits, 'isOverH3'>,
): boolean {
  if (holdsProtocols) return true;
  const mayUseH3 = (request: RecordedRequest) =>
    usesH3(request) || (isProtocolHidden(request) && visits.isOverH3(new URL(request.url).origin));
  if (!recording.requests.some(mayUseH3)) return false;
  if (explores || verification !== null) return true;
  const checked = check?.udp?.kind ?? 'unblocked';
  return checked === 'unblocked' ? suspectsUdp(known) : checked !== 'open' && checked !== 'blocked';
}

/** Whether a request's protocol is hidden, as where a page's service worker made it. */
const isProtocolHidden = ({ fromCache, protocol, status }: RecordedRequest) =>
  !fromCache && protocol === null && status !== 0;

/** Whether a request went over HTTP/3, or to a server that offered it. */
export const usesH3 = ({ protocol, offersH3 }: RecordedRequest) => protocol === 'h3' || offersH3 === true;
