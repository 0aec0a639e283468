import { groupBy, PROTOCOL_NAME as NAME, type Protocol } from '@hopwise/contract';
import { count, round, wordsIn } from '../words.ts';

const { ms, percent, duration, durations, decimal, list } = wordsIn('en');

/** How sure an action's effect is. */
export type Sureness = 'measured' | 'sure' | 'likely';

/** What the browser did in measured loads: by itself, all pinned to one protocol, or with other pins. */
export type Behaviour = 'browser' | 'pins' | Protocol;

/**
 * What a single fastest protocol is to a decision: `own` where the browser uses it by itself, `alike` where what the browser mixes takes about
 * as long, `unsure` where a change to it does not surely gain, otherwise `other`. The sentence says which, as it stands beside a verdict that
 * may change nothing.
 */
export type FastestRole = 'own' | 'alike' | 'unsure' | 'other';

/** How sure it is that a protocol is the fastest: decided, with a chance from 0 to 1, or null where the chance is not known. */
export type FastestChance = 'decided' | number | null;

/** A protocol whose load time is `ratio` times the fastest one's. */
export interface SlowerProtocol {
  protocol: Protocol;
  ratio: number;
}

const SURENESS: Record<Sureness, string> = { measured: 'measured', sure: 'sure', likely: 'likely' };

/** Ratios from this one on are written as "times as long". */
export const NOTABLY_SLOWER = 1.5;

/** The English sentences about a prediction. Those that end in `Clause` follow a colon; hosts come without their scheme. */
export const english = {
  instructions: {
    leave: () => 'Leave it',
    /** @param host null for the whole page */
    avoidH3: (hosts: string | null) => `Keep ${hosts ?? 'this page'} off HTTP/3`,
    mix: (hosts: string) => `Mix protocols for ${hosts}`,
    forceProtocol: (hosts: string, protocol: Protocol) => `Hold ${hosts} to ${NAME[protocol]}`,
    offerH3: (hosts: string) => `Offer HTTP/3 at ${hosts}`,
    withdrawH3: (hosts: string) => `Stop offering HTTP/3 at ${hosts}`,
  },
  bothHosts: (first: string, second: string) => `${first} and ${second}`,
  firstHost: (first: string, more: number) => `${first} and ${more} more origins`,

  verdict: {
    effect(instruction: string, beforeMs: number, afterMs: number, sureness: Sureness): string {
      const [before, after] = durations(beforeMs, afterMs);
      const about = sureness === 'measured' ? '' : 'about ';
      return `${instruction}: ${before} → ${about}${after} (${SURENESS[sureness]})`;
    },
    /** @param why what is not understood @param canVerify whether transfers could show more */
    notUnderstood: (why: string, canVerify: boolean) =>
      `This load is not understood${canVerify ? ', verify it' : ''}: ${why}`,
    /** @param isVerified whether a verification has left it open */
    promising: (instruction: string, gainMs: number, chance: number, isVerified: boolean) =>
      `Nothing to change yet. “${instruction}” may save ${duration(gainMs)} (chance ${percent(chance)}): ${isVerified ? 'the verification could not settle it' : 'verify to be sure'}`,
    /** @param isLong whether the page takes longer than people wait */
    equal: (isLong: boolean): string =>
      isLong
        ? 'Nothing worth changing here. The protocols are about equal'
        : 'All good. The protocols are about equal here',
    nothingToSwitch: (advice: string) => `Nothing worth changing here. ${advice}`,
    /** A first visit meets a server over TCP, which then announces HTTP/3. */
    offerH3(hosts: string, beforeMs: number, afterMs: number): string {
      const [before, after] = durations(beforeMs, afterMs);
      return `If you run ${hosts}: later visits with HTTP/3 there ${before} → about ${after}`;
    },
    httpsFirst: () => 'If you run the server: offer https first, which HTTP/2 and HTTP/3 need',
    right: (isLong: boolean): string =>
      isLong
        ? 'No change would load this page noticeably faster'
        : 'All good. No change would load this page noticeably faster',
    noSureGain: () => 'Nothing worth changing here',
  },

  /** How well the recorded load is explained; all but the first without a full stop. */
  fit: {
    explains(explainedMs: number, recordedMs: number): string {
      const [explained, recorded] = durations(explainedMs, recordedMs);
      return explained === recorded
        ? `The recorded load took ${recorded}, as its emulation expects.`
        : `The recorded load took ${recorded}; its emulation expects ${explained}.`;
    },
    noNavigation: () => 'the recording has no navigation, only a set of transfers',
    protocolFailed: (requests: number, protocol: Protocol) =>
      `${requests === 1 ? 'a request' : `${requests} requests`} failed because of ${NAME[protocol]}`,
    networkChanged: () => 'the network changed, or was gone for a while',
    noLoadEvent: () => 'the recording has no load event, so that its load time is a guess',
    allCached: () =>
      'the page came from a cache or its service worker, so that nothing shows how its servers answer',
    noAnswer: () => 'no server answered',
    noPage: () => 'its redirects led to no page',
    session: (recordedMs: number) =>
      `the recording takes ${duration(recordedMs)}, which is a session rather than a page load`,
    loadTime(recordedMs: number, explainedMs: number): string {
      const [recorded, explained] = durations(recordedMs, explainedMs);
      return `it took ${recorded}; its emulation expects ${explained}`;
    },
    unexplained: (restMs: number) => `why the other ${duration(restMs)} passed is not understood`,
    tooLong: (restMs: number) => `why the load took ${duration(restMs)} less is not understood`,
    roundTrip: (rttMs: number) =>
      `a round trip of ${decimal(rttMs, rttMs < 1 ? 1 : 0)} ms is none of the internet`,
    noRoundTrip: () => 'the recording does not show how long requests waited for their responses',
  },

  evidence: {
    /** @param equal the fastest protocol and those about as fast @param role what a single fastest one is to the verdict */
    comparison(
      equal: readonly Protocol[],
      slower: readonly SlowerProtocol[],
      role: FastestRole,
      chance: FastestChance,
    ): string {
      const names = equal.map((protocol) => NAME[protocol]);
      const lead =
        names.length === 1
          ? {
              own: `${names[0]}, which the browser uses by itself, ${fastestClause(chance)}`,
              alike: `${names[0]} alone would take about as long as what the browser uses by itself`,
              unsure: `${names[0]} ${fastestClause(chance)}, but no change surely gains by it`,
              other: `${names[0]} ${fastestClause(chance)}`,
            }[role]
          : `${list(names)} are about equal here`;
      return `${[lead, ...slowerClauses(slower)].join('; ')}.`;
    },
    loads(number: number, behaviour: Behaviour, lowMs: number, highMs: number): string {
      const [low, high] = durations(lowMs, highMs);
      return `${count(number, 'measured load')} ${behaviourOf(behaviour)} took ${low === high ? low : `${low} to ${high}`}.`;
    },
    /** @param without protocols that were tried, and carried no round */
    transfers(
      medians: readonly { protocol: Protocol; totalMs: number }[],
      without: readonly Protocol[],
    ): string {
      if (medians.length === 0) return 'No transfer succeeded.';
      const each = medians.map(({ protocol, totalMs }) => `${duration(totalMs)} over ${NAME[protocol]}`);
      const none =
        without.length === 0
          ? ''
          : `; none went over ${without.map((protocol) => NAME[protocol]).join(' or ')}`;
      return `The transfers took ${each.join(', ')}${none}.`;
    },
    earlierStands: () => 'The earlier answer stands: no other is surely better.',
    changed: (verdict: string) => `Before, the answer was: ${verdict}.`,
  },

  page: {
    onlyOne: (only: Protocol) => `Only ${NAME[only]} loads the page on this network.`,
    fastestIfUdpPasses: () =>
      'HTTP/3 is the fastest only if this network lets UDP pass, which nothing has shown yet.',
    safer: (best: Protocol, rival: Protocol) =>
      `${NAME[best]} and ${NAME[rival]} usually take about as long, but ${NAME[rival]} may take far longer.`,
    /** @param timesAsLong infinite where the page does not load over HTTP/3 then */
    saferUnlessPoliced(best: Protocol, timesAsLong: number): string {
      const cost = Number.isFinite(timesAsLong)
        ? `HTTP/3 takes about ${decimal(timesAsLong, timesAsLong < 3 ? 1 : 0)} times as long`
        : 'the page does not load over HTTP/3';
      return `${NAME[best]} is the safest until it is known whether this network holds back UDP: if it does, ${cost}.`;
    },
    saves: (best: Protocol, savedMs: number, clause: string) =>
      `${NAME[best]} saves ${ms(savedMs)} on the way to the load event: ${clause}`,
    manySmall: () => 'Many small differences add up; no single one stands out.',
  },

  causes: {
    policed: (packets: number) =>
      `This network holds UDP to a fraction of its rate: it dropped ${count(packets, 'packet')} of HTTP/3.`,
    policedClause: (packets: number) =>
      `this network holds UDP to a fraction of its rate: it dropped ${count(packets, 'packet')} of HTTP/3.`,
    sixConnectionsClause: (requests: number, eachMs: number) =>
      `${count(requests, 'request')} on HTTP/1.1 waited for one of six connections to be free, ${ms(eachMs)} each.`,
    turnClause: (loser: Protocol) => `requests wait longer for their turn on ${NAME[loser]}.`,
    oneRoundTripClause: (rttMs: number, loser: Protocol) =>
      `a connection is ready after 1 round trip of ${ms(rttMs)} instead of 2 on ${NAME[loser]}.`,
    handshakesClause: (connections: number, loser: Protocol, fewer: number) =>
      `${count(connections, 'connection')} on ${NAME[loser]} instead of ${round(fewer)} take more handshakes.`,
    timersClause: (timers: number, loser: Protocol, fewer: number, winner: Protocol) =>
      `${count(timers, 'time')} on ${NAME[loser]} a lost packet was noticed only by a timer (${round(fewer)} on ${NAME[winner]}).`,
    oneOfManyClause: (connections: number, lost: number, loser: Protocol) =>
      `a lost packet slows one of ${count(connections, 'connection')} instead of the only one: ${count(lost, 'packet')} lost on ${NAME[loser]}.`,
    moreWindowsClause: (connections: number, fewer: number, loser: Protocol) =>
      `${count(connections, 'connection')} start with that many windows, ${count(fewer, 'connection')} of ${NAME[loser]} with fewer.`,
    largerWindowClause: (quicPackets: number, tcpPackets: number) =>
      `its server begins with ${quicPackets} packets in flight, over TCP with ${tcpPackets}.`,
    lostClause: (lost: number, loser: Protocol, fewer: number, winner: Protocol) =>
      `${count(lost, 'packet')} lost on ${NAME[loser]}, ${round(fewer)} on ${NAME[winner]}.`,
    notHeldUpClause: () => 'what the page waits for is not held up by other responses on the link.',
    ownLossesClause: (loser: Protocol) => `on ${NAME[loser]} responses wait for their own lost packets.`,
    heldBehindClause: (responses: number, loser: Protocol, eachMs: number) =>
      `${count(responses, 'response')} on ${NAME[loser]} waited behind another response's lost packet, ${ms(eachMs)} each.`,
    /** @param isSmall whether each file fits into one flight */
    holdup(files: number, isSmall: boolean, host: string, protocol: Protocol, longestMs: number): string {
      const wait = files === 1 ? 'waits' : 'wait';
      return `${count(files, isSmall ? 'small file' : 'file')} from ${host} ${wait} behind one lost packet on ${NAME[protocol]}, up to ${ms(longestMs)}.`;
    },
  },

  origin: {
    onlyOffer: (protocol: Protocol) => `It offers ${NAME[protocol]} only.`,
    untried: () => 'Nothing else was tried for it: other origins move more bytes.',
    notCritical: () => 'Not on the critical path.',
    indifferent: (requests: number) =>
      `The choice for its ${count(requests, 'request')} moves the page by less than 1%.`,
    tooLittle: (ahead: Protocol, requests: number, gainMs: number, share: number, behind: Protocol) =>
      `${NAME[ahead]} for its ${count(requests, 'request')} saves ${ms(gainMs)} (${percent(share)}) against ${NAME[behind]}: not enough to act on by itself.`,
    /** A gain that would be large enough, if it is real. */
    unsure: (ahead: Protocol, requests: number, gainMs: number, share: number, behind: Protocol) =>
      `${NAME[ahead]} for its ${count(requests, 'request')} might save ${ms(gainMs)} (${percent(share)}) against ${NAME[behind]}, which is not sure.`,
    /** @param clause why, null where nothing stands out */
    faster: (protocol: Protocol, requests: number, gainMs: number, rival: Protocol, clause: string | null) =>
      `${NAME[protocol]} for its ${count(requests, 'request')} loads the page ${ms(gainMs)} sooner than ${NAME[rival]}${clause === null ? '.' : `: ${clause}`}`,
  },

  mix: {
    noHelp: () => 'Mixing protocols would not help.',
    /**
     * @param isSure whether the gain is beyond doubt
     * @param isEnough whether it is large enough to act on, if it is real
     */
    sooner(
      moved: number,
      origins: number,
      gainMs: number,
      share: number,
      uniform: Protocol,
      isSure: boolean,
      isEnough: boolean,
    ): string {
      const change = `With other protocols for ${moved} of ${origins} origins the page`;
      const lead = `${ms(gainMs)} (${percent(share)}) sooner than with ${NAME[uniform]} for every origin that offers it`;
      if (isSure) return `${change} loads ${lead}.`;
      return `${change} might load ${lead}${isEnough ? ', which is not sure.' : ': too little to act on.'}`;
    },
  },

  notes: {
    comparedOn: (networks: number) => `The protocols were compared on ${count(networks, 'network')} only.`,
    searchCut: () => 'The search for the best mix of protocols was cut short.',
    leftOutTrips: (trips: number) =>
      `${count(trips, 'time')} to connect or to answer ${trips === 1 ? 'contradicts the handshakes and does' : 'contradict the handshakes and do'} not count towards the round trip.`,
    untriedOrigins: (origins: number) =>
      `Other protocols were not tried for ${count(origins, 'origin')}, those that move fewest bytes.`,
  },

  udpBlocked: () => 'UDP is blocked on this network',
  /** @param afterMs emulated time without a load event; null where the servers' offers leave no protocol */
  endless: (afterMs: number | null) =>
    `the page does not load on this network${afterMs === null ? ' with what its servers offer' : `: no load event after ${Math.round(afterMs / 1000)} s`}`,
};

/** A language's sentences: tsc refuses one that lacks a sentence, has another or uses other values. */
export type Sentences = typeof english;

function fastestClause(chance: FastestChance): string {
  if (chance === 'decided') return 'is the fastest';
  return chance === null ? 'may be the fastest' : `is the fastest with a chance of ${percent(chance)}`;
}

/** Those that are as much slower as they are written, in one clause. */
function slowerClauses(slower: readonly SlowerProtocol[]): string[] {
  const byWords = groupBy(slower, ({ ratio }) =>
    ratio >= NOTABLY_SLOWER
      ? `${decimal(ratio, ratio < 3 ? 1 : 0)} times as long`
      : `${percent(ratio - 1)} longer`,
  );
  return [...byWords].map(([words, those]) => {
    const names = list(those.map(({ protocol }) => NAME[protocol]));
    return `${names} ${those.length === 1 ? 'takes' : 'take'} ${words}`;
  });
}

function behaviourOf(behaviour: Behaviour): string {
  if (behaviour === 'browser') return 'by the browser itself';
  return behaviour === 'pins' ? 'with pins' : `pinned to ${NAME[behaviour]}`;
}
