import type { Assignment, Prediction, VerifiedOrigin } from '@hopwise/contract';
import { type PlainKey, plural, t } from '../../language/translate.ts';
import { nameUdp } from '../../ui/network-view.ts';
import type { OriginFacts } from '../emulation/origin-facts.ts';

/** What decides whether an origin is asked over HTTP/3. */
interface H3Circumstances {
  facts: OriginFacts;
  udp: Prediction['network']['udp'];
  visit: Prediction['decision']['baseline']['visit'];
  /** What a verification found out about the origin; null without one. */
  verified: VerifiedOrigin | null;
  /** Protocols that pins held origins to; null where that is not known. */
  pinned: Assignment | null;
}

/** Why an origin was asked over HTTP/3, or why not: one answer, and what it rests on. */
interface H3Answer {
  title: string;
  answer: string;
  facts: [name: string, value: string][];
}

export function explainH3(circumstances: H3Circumstances): H3Answer {
  const { facts, udp, visit, verified } = circumstances;
  const used = facts.used.h3 ?? 0;
  const requests = plural('requests', facts.requests);
  const [address] = facts.addresses;
  const addresses = [...new Set(facts.addresses.map((each) => (each.includes(':') ? 'IPv6' : 'IPv4')))];
  return {
    title: t(used > 0 ? 'whyTitleUsed' : 'whyTitleNot'),
    answer: t(findCause(circumstances)),
    facts: [
      [t('whyUsedBy'), used > 0 ? t('whyUsedShare', { h3: used, requests }) : t('whyUsedNone', { requests })],
      ['Alt-Svc', describeAltSvc(circumstances)],
      [t('whyHttpsRecord'), describeRecord(verified)],
      ['UDP', nameUdp(udp)],
      [t('whyVisit'), t(visit === 'first' ? 'whyVisitFirst' : 'whyVisitLater')],
      [t('whyBrokenMark'), t(findCause(circumstances) === 'whyBroken' ? 'whyBrokenLikely' : 'whyBrokenNo')],
      [
        t('whyAddress'),
        address ? `${addresses.join(', ')}: ${facts.addresses.join(', ')}` : t('originUnknown'),
      ],
      [t('whyServer'), describeServer(verified)],
    ],
  };
}

/** The first cause that suffices. */
function findCause({ facts, udp, visit, verified, pinned }: H3Circumstances) {
  const { origin, used, requests } = facts;
  const own = used.h3 ?? 0;
  if (own > 0) return own === requests ? 'whyUsed' : 'whyUsedLate';
  if (!origin.startsWith('https:')) return 'whyPlain';
  if ((pinned?.[origin] ?? 'h3') !== 'h3') return 'whyPinned';
  const offers = offersH3(facts, verified);
  if (offers === null) return 'whyUnknown';
  if (!offers) return 'whyNotOffered';
  if (udp === 'blocked') return 'whyBlocked';
  if (verified?.speaks.h3 === false) return 'whyRefused';
  return visit === 'first' ? 'whyFirstVisit' : 'whyBroken';
}

/** Whether a response or the HTTPS record offers it; null where neither was seen. */
function offersH3({ offersH3: announced }: OriginFacts, verified: VerifiedOrigin | null): boolean | null {
  if (announced) return true;
  if (!verified) return announced;
  const { altSvc, httpsRecord } = verified.h3Offered;
  return altSvc.length > 0 || httpsRecord.alpn.includes('h3');
}

function describeAltSvc({ facts, verified }: H3Circumstances): string {
  const offers = facts.offersH3 || (verified ? verified.h3Offered.altSvc.length > 0 : facts.offersH3);
  if (offers === null) return t('whyNotSeen');
  return t(offers ? 'whyOffered' : 'whyOfferedNot');
}

function describeRecord(verified: VerifiedOrigin | null): string {
  if (!verified) return t('whyNotVerified');
  const { state, alpn } = verified.h3Offered.httpsRecord;
  const words: Record<typeof state, PlainKey> = {
    present: alpn.includes('h3') ? 'whyOffered' : 'whyOfferedNot',
    absent: 'whyRecordAbsent',
    unknown: 'originUnknown',
  };
  return t(words[state]);
}

function describeServer(verified: VerifiedOrigin | null): string {
  if (!verified) return t('whyNotVerified');
  const { h3 } = verified.speaks;
  if (h3 === null) return t('originUnknown');
  return t(h3 ? 'whyServerAnswers' : 'whyServerSilent');
}
