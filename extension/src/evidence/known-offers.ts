import type { Prediction, RecordedRequest, Recording } from '@hopwise/contract';
import type { KnownLoad } from '../load/load-summary.ts';
import type { StoredLoad } from '../load/stored-load.ts';
import { visitsUntil } from './comparable-loads.ts';

/**
 * A load's recording with the offers of HTTP/3 that other loads on its network show. Light recordings have no headers: where a connection
 * over TCP won the race, or a pin kept HTTP/3 off, nothing else says that the server offers it, and that the browser would use it again.
 *
 * @param all stored loads, oldest first
 */
export function addKnownOffers(load: StoredLoad, all: readonly KnownLoad[]): Recording {
  const { recording } = load;
  const visits = visitsUntil(load, all);
  return withOffers(recording, (origin) => visits.isOverH3(origin));
}

/**
 * A recording with the offers of HTTP/3 on which its prediction rests. Other loads may have shown these to the prediction, so that what
 * the panel emulates, and advises for servers, agrees with it.
 */
export function addPredictedOffers(
  recording: Recording,
  { decision }: Pick<Prediction, 'decision'>,
): Recording {
  return withOffers(recording, (origin) => decision.baseline.protocols[origin] === 'h3');
}

/** States offers where no headers were seen that could. */
function withOffers(recording: Recording, isKnown: (origin: string) => boolean): Recording {
  const isOffered = ({ url, protocol, offersH3 }: RecordedRequest) =>
    offersH3 === null && protocol !== 'h3' && isKnown(new URL(url).origin);
  const requests = recording.requests.map((each) => (isOffered(each) ? { ...each, offersH3: true } : each));
  return { ...recording, requests };
}
