import type { Assignment, RecordedRequest } from '@hopwise/contract';
import { originOf } from '../util/url.ts';
import { responseBytesOf, type SizedRequest } from './sizes.ts';

/** What of a recording shows which visit it was. */
interface VisitRecording {
  requests: readonly Pick<RecordedRequest, 'url' | 'protocol' | 'offersH3' | 'fromCache'>[];
}

/** What of a recording shows which protocols answered. */
interface AnsweredRecording {
  requests: readonly Pick<RecordedRequest, 'url' | 'protocol' | 'status'>[];
}

/** What of a recording shows which protocols carried its bytes. */
interface CarriedRecording {
  requests: readonly (Pick<RecordedRequest, 'url' | 'protocol' | 'fromCache'> & SizedRequest)[];
}

/**
 * Whether a browser without pins recorded a first visit, in which it met the origins that offer HTTP/3 over TCP, or a later one.
 * The origins with most of the requests decide: a later visit meets new third parties over TCP too, and there TCP sometimes wins the race.
 * Null when no request to an origin that offers HTTP/3 shows its protocol.
 */
export function recordedVisit({ requests }: VisitRecording): 'first' | 'later' | null {
  const offering = new Set<string>();
  for (const { url, protocol, offersH3 } of requests) {
    const origin = originOf(url);
    if (origin !== null && (protocol === 'h3' || (offersH3 && isSecure(url)))) offering.add(origin);
  }
  const beginsOverH3 = new Map<string, boolean>();
  let known = 0;
  let overH3 = 0;
  for (const { url, protocol, fromCache } of requests) {
    const origin = originOf(url);
    if (origin === null || protocol === null || fromCache || !offering.has(origin)) continue;
    if (!beginsOverH3.has(origin)) beginsOverH3.set(origin, protocol === 'h3');
    known++;
    if (beginsOverH3.get(origin)) overH3++;
  }
  if (known === 0) return null;
  return overH3 > known / 2 ? 'later' : 'first';
}

/**
 * What carried a load in which HTTP/3 was offered and never used: a browser may have it switched off, and may stay on the connections
 * that it has. How long that load took says nothing of one that finds out about the offers, least of all where UDP is policed.
 *
 * @param natural what the browser uses by itself
 * @returns null where that is HTTP/3 for no origin, where HTTP/3 was used, and where no protocol was recorded
 */
export function carriedAssignment(recording: AnsweredRecording, natural: Assignment): Assignment | null {
  const { requests } = recording;
  if (hasH3Answer(recording) || requests.every(({ protocol }) => protocol === null)) return null;
  const offering = Object.keys(natural).filter((origin) => natural[origin] === 'h3');
  if (offering.length === 0) return null;
  return { ...natural, ...assignTcp(requests, offering) };
}

/**
 * What carried most of each origin's bytes in a load that changed to HTTP/3 where origins announced it. When browsers change differs from load to
 * load, by races and by how busy they are; where UDP is policed, the load time depends on it.
 *
 * @param natural what the browser uses by itself
 */
export function assignmentByBytes({ requests }: CarriedRecording, natural: Assignment): Assignment {
  /** By origin: those over HTTP/3 less those over TCP. */
  const h3Lead = new Map<string, number>();
  for (const request of requests) {
    const origin = originOf(request.url);
    if (origin === null || natural[origin] !== 'h3' || request.fromCache) continue;
    const bytes = responseBytesOf(request);
    h3Lead.set(origin, (h3Lead.get(origin) ?? 0) + (request.protocol === 'h3' ? bytes : -bytes));
  }
  const mostlyTcp = [...h3Lead].filter(([, bytes]) => bytes < 0).map(([origin]) => origin);
  return { ...natural, ...assignTcp(requests, mostlyTcp) };
}

/** Assigns HTTP/1.1 to origins that answered over it, HTTP/2 to the others. */
function assignTcp(
  requests: readonly Pick<RecordedRequest, 'url' | 'protocol'>[],
  origins: readonly string[],
): Assignment {
  const overH1 = new Set(
    requests.flatMap(({ url, protocol }) => (protocol === 'h1' ? (originOf(url) ?? []) : [])),
  );
  return Object.fromEntries(origins.map((origin) => [origin, overH1.has(origin) ? 'h1' : 'h2']));
}

/** Whether a response came over HTTP/3. */
export function hasH3Answer({ requests }: AnsweredRecording): boolean {
  return requests.some(({ protocol, status }) => protocol === 'h3' && status !== 0);
}

/** Browsers use HTTP/3 for https origins only, whatever an http origin announces (RFC 9114, section 3.1). */
function isSecure(url: string): boolean {
  return url.startsWith('https:');
}
