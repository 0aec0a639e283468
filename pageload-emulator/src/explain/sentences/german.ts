import { groupBy, PROTOCOL_NAME as NAME } from '@hopwise/contract';
import { count, round, wordsIn } from '../words.ts';
import {
  type Behaviour,
  type FastestChance,
  NOTABLY_SLOWER,
  type Sentences,
  type SlowerProtocol,
  type Sureness,
} from './english.ts';

const { ms, percent, duration, durations, decimal, list } = wordsIn('de');

const SURENESS: Record<Sureness, string> = { measured: 'gemessen', sure: 'sicher', likely: 'wahrscheinlich' };

/** The German sentences about a prediction; `english.ts` says what each is for. */
export const german: Sentences = {
  instructions: {
    leave: () => 'Nichts ändern',
    avoidH3: (hosts) => `HTTP/3 für ${hosts ?? 'diese Seite'} meiden`,
    mix: (hosts) => `Protokolle für ${hosts} mischen`,
    forceProtocol: (hosts, protocol) => `${hosts} auf ${NAME[protocol]} festlegen`,
    offerH3: (hosts) => `HTTP/3 auf ${hosts} anbieten`,
    withdrawH3: (hosts) => `HTTP/3 auf ${hosts} nicht mehr anbieten`,
  },
  bothHosts: (first, second) => `${first} und ${second}`,
  firstHost: (first, more) => `${first} und ${more} weitere Ursprünge`,

  verdict: {
    effect(instruction, beforeMs, afterMs, sureness) {
      const [before, after] = durations(beforeMs, afterMs);
      const about = sureness === 'measured' ? '' : 'etwa ';
      return `${instruction}: ${before} → ${about}${after} (${SURENESS[sureness]})`;
    },
    notUnderstood: (why, canVerify) =>
      `Dieser Ladevorgang ist nicht verstanden${canVerify ? ', bitte prüfen' : ''}: ${why}`,
    promising: (instruction, gainMs, chance, isVerified) =>
      `Noch ist nichts zu ändern. „${instruction}“ spart vielleicht ${duration(gainMs)} (Wahrscheinlichkeit ${percent(chance)}): ${isVerified ? 'Die Prüfung hat es nicht geklärt' : 'Eine Prüfung schafft Gewissheit'}`,
    equal: (isLong) =>
      isLong
        ? 'Hier lohnt sich keine Änderung. Die Protokolle sind etwa gleich schnell'
        : 'Alles gut. Die Protokolle sind hier etwa gleich schnell',
    nothingToSwitch: (advice) => `Hier lohnt sich keine Änderung. ${advice}`,
    offerH3(hosts, beforeMs, afterMs) {
      const [before, after] = durations(beforeMs, afterMs);
      return `Wer ${hosts} betreibt: spätere Besuche mit HTTP/3 dort ${before} → etwa ${after}`;
    },
    httpsFirst: () => 'Wer den Server betreibt: zuerst https anbieten, das HTTP/2 und HTTP/3 brauchen',
    right: (isLong) =>
      isLong
        ? 'Keine Änderung würde diese Seite merklich schneller laden'
        : 'Alles gut. Keine Änderung würde diese Seite merklich schneller laden',
    noSureGain: () => 'Hier lohnt sich keine Änderung',
  },

  fit: {
    explains(explainedMs, recordedMs) {
      const [explained, recorded] = durations(explainedMs, recordedMs);
      return explained === recorded
        ? `Der aufgezeichnete Ladevorgang dauerte ${recorded}, wie von der Emulation erwartet.`
        : `Der aufgezeichnete Ladevorgang dauerte ${recorded}; die Emulation erwartet ${explained}.`;
    },
    noNavigation: () => 'Die Aufzeichnung hat keine Navigation, nur einzelne Übertragungen',
    protocolFailed: (requests, protocol) =>
      `${requests === 1 ? 'Eine Anfrage scheiterte' : `${requests} Anfragen scheiterten`} an ${NAME[protocol]}`,
    networkChanged: () => 'Das Netz wechselte oder war zeitweise weg',
    noLoadEvent: () => 'Die Aufzeichnung hat kein Load-Event, ihre Ladezeit ist daher geschätzt',
    allCached: () =>
      'Die Seite kam aus einem Cache oder von ihrem Service Worker, deshalb zeigt nichts, wie ihre Server antworten',
    noAnswer: () => 'Kein Server antwortete',
    noPage: () => 'Die Umleitungen führten zu keiner Seite',
    session: (recordedMs) =>
      `Die Aufzeichnung dauert ${duration(recordedMs)} und ist eher eine Sitzung als ein Ladevorgang`,
    loadTime(recordedMs, explainedMs) {
      const [recorded, explained] = durations(recordedMs, explainedMs);
      return `Er dauerte ${recorded}; die Emulation erwartet ${explained}`;
    },
    unexplained: (restMs) => `Wofür die übrigen ${duration(restMs)} vergingen, ist nicht verstanden`,
    tooLong: (restMs) => `Warum der Ladevorgang ${duration(restMs)} kürzer war, ist nicht verstanden`,
    roundTrip: (rttMs) =>
      `Eine Umlaufzeit von ${decimal(rttMs, rttMs < 1 ? 1 : 0)} ms gibt es im Internet nicht`,
    noRoundTrip: () => 'Die Aufzeichnung zeigt nicht, wie lange Anfragen auf ihre Antworten warteten',
  },

  evidence: {
    comparison(equal, slower, role, chance) {
      const names = equal.map((protocol) => NAME[protocol]);
      const lead =
        names.length === 1
          ? {
              own: `${names[0]}, das der Browser von selbst nutzt, ${fastestClause(chance)}`,
              alike: `${names[0]} allein würde etwa so lange brauchen wie das, was der Browser von selbst nutzt`,
              unsure: `${names[0]} ${fastestClause(chance)}, doch keine Änderung gewinnt dadurch sicher`,
              other: `${names[0]} ${fastestClause(chance)}`,
            }[role]
          : `${list(names)} sind hier etwa gleich schnell`;
      return `${[lead, ...slowerClauses(slower)].join('; ')}.`;
    },
    loads(number, behaviour, lowMs, highMs) {
      const [low, high] = durations(lowMs, highMs);
      const loads = count(number, 'gemessener Ladevorgang', 'gemessene Ladevorgänge');
      const took = number === 1 ? 'dauerte' : 'dauerten';
      return `${loads} ${behaviourOf(behaviour)} ${took} ${low === high ? low : `${low} bis ${high}`}.`;
    },
    transfers(medians, without) {
      if (medians.length === 0) return 'Keine Übertragung gelang.';
      const each = medians.map(({ protocol, totalMs }) => `${duration(totalMs)} über ${NAME[protocol]}`);
      const none =
        without.length === 0
          ? ''
          : `; keine gelang über ${without.map((protocol) => NAME[protocol]).join(' oder ')}`;
      return `Die Übertragungen dauerten ${each.join(', ')}${none}.`;
    },
    earlierStands: () => 'Die frühere Antwort gilt weiter: Keine andere ist sicher besser.',
    changed: (verdict) => `Zuvor lautete die Antwort: ${verdict}.`,
  },

  page: {
    onlyOne: (only) => `In diesem Netz lädt nur ${NAME[only]} die Seite.`,
    fastestIfUdpPasses: () =>
      'HTTP/3 ist nur dann am schnellsten, wenn dieses Netz UDP durchlässt, was noch nichts gezeigt hat.',
    safer: (best, rival) =>
      `${NAME[best]} und ${NAME[rival]} brauchen meist etwa gleich lange, doch mit ${NAME[rival]} kann es weit länger dauern.`,
    saferUnlessPoliced(best, timesAsLong) {
      const cost = Number.isFinite(timesAsLong)
        ? `dauert es mit HTTP/3 etwa ${decimal(timesAsLong, timesAsLong < 3 ? 1 : 0)}-mal so lange`
        : 'lädt die Seite mit HTTP/3 nicht';
      return `${NAME[best]} ist am sichersten, solange nicht bekannt ist, ob dieses Netz UDP bremst: Wenn ja, ${cost}.`;
    },
    saves: (best, savedMs, clause) => `${NAME[best]} spart ${ms(savedMs)} bis zum Load-Event: ${clause}`,
    manySmall: () => 'Viele kleine Unterschiede summieren sich; keiner sticht heraus.',
  },

  causes: {
    policed: policedClause,
    policedClause,
    sixConnectionsClause: (requests, eachMs) =>
      round(requests) === '1'
        ? `1 Anfrage wartete bei HTTP/1.1 ${ms(eachMs)} auf eine freie der sechs Verbindungen.`
        : `${round(requests)} Anfragen warteten bei HTTP/1.1 auf eine freie der sechs Verbindungen, je ${ms(eachMs)}.`,
    turnClause: (loser) => `Bei ${NAME[loser]} warten Anfragen länger, bis sie an der Reihe sind.`,
    oneRoundTripClause: (rttMs, loser) =>
      `Eine Verbindung steht nach 1 Umlauf von ${ms(rttMs)} statt nach 2 bei ${NAME[loser]}.`,
    handshakesClause: (connections, loser, fewer) =>
      `${count(connections, 'Verbindung', 'Verbindungen')} bei ${NAME[loser]} statt ${round(fewer)} kosten mehr Handshakes.`,
    timersClause: (timers, loser, fewer, winner) =>
      `Bei ${NAME[loser]} fiel ein verlorenes Paket ${round(timers)}-mal erst durch einen Timer auf (bei ${NAME[winner]} ${round(fewer)}-mal).`,
    oneOfManyClause: (connections, lost, loser) =>
      `Ein verlorenes Paket bremst eine von ${round(connections)} Verbindungen statt der einzigen: Bei ${NAME[loser]} ${packetsLost(lost)}.`,
    moreWindowsClause: (connections, fewer, loser) =>
      `${count(connections, 'Verbindung beginnt', 'Verbindungen beginnen')} mit ebenso vielen Fenstern, ${round(fewer)} bei ${NAME[loser]} mit weniger.`,
    largerWindowClause: (quicPackets, tcpPackets) =>
      `Der Server beginnt mit ${quicPackets} Paketen auf einmal, über TCP mit ${tcpPackets}.`,
    lostClause: (lost, loser, fewer, winner) =>
      `Bei ${NAME[loser]} ${packetsLost(lost)}, bei ${NAME[winner]} ${round(fewer)}.`,
    notHeldUpClause: () => 'Worauf die Seite wartet, wird nicht durch andere Antworten aufgehalten.',
    ownLossesClause: (loser) => `Bei ${NAME[loser]} warten Antworten auf ihre eigenen verlorenen Pakete.`,
    heldBehindClause: (responses, loser, eachMs) =>
      round(responses) === '1'
        ? `Bei ${NAME[loser]} wartete 1 Antwort ${ms(eachMs)} hinter dem verlorenen Paket einer anderen.`
        : `Bei ${NAME[loser]} warteten ${round(responses)} Antworten hinter dem verlorenen Paket einer anderen, je ${ms(eachMs)}.`,
    holdup(files, isSmall, host, protocol, longestMs) {
      const held = isSmall
        ? count(files, 'kleine Datei', 'kleine Dateien')
        : count(files, 'Datei', 'Dateien');
      const wait = files === 1 ? 'wartet' : 'warten';
      return `${held} von ${host} ${wait} bei ${NAME[protocol]} hinter einem verlorenen Paket, bis zu ${ms(longestMs)}.`;
    },
  },

  origin: {
    onlyOffer: (protocol) => `Bietet nur ${NAME[protocol]} an.`,
    untried: () => 'Nichts anderes wurde erprobt: Andere Ursprünge übertragen mehr Bytes.',
    notCritical: () => 'Nicht auf dem kritischen Pfad.',
    indifferent: (requests) =>
      `Die Wahl für ${requestsOf(requests)} ändert die Ladezeit der Seite um weniger als 1\u00a0%.`,
    tooLittle: (ahead, requests, gainMs, share, behind) =>
      `${NAME[ahead]} für ${requestsOf(requests)} spart ${ms(gainMs)} (${percent(share)}) gegenüber ${NAME[behind]}: für sich allein nicht genug, um etwas zu ändern.`,
    unsure: (ahead, requests, gainMs, share, behind) =>
      `${NAME[ahead]} für ${requestsOf(requests)} spart vielleicht ${ms(gainMs)} (${percent(share)}) gegenüber ${NAME[behind]}; sicher ist das nicht.`,
    faster: (protocol, requests, gainMs, rival, clause) =>
      `Mit ${NAME[protocol]} für ${requestsOf(requests)} lädt die Seite ${ms(gainMs)} früher als mit ${NAME[rival]}${clause === null ? '.' : `: ${clause}`}`,
  },

  mix: {
    noHelp: () => 'Protokolle zu mischen hilft nicht.',
    sooner(moved, origins, gainMs, share, uniform, isSure, isEnough) {
      const lead = `${ms(gainMs)} (${percent(share)}) früher als mit ${NAME[uniform]} für jeden Ursprung, der es anbietet`;
      return `Mit anderen Protokollen für ${moved} von ${origins} Ursprüngen lädt die Seite ${
        isSure
          ? `${lead}.`
          : `vielleicht ${lead}${isEnough ? ', sicher ist das nicht.' : ': zu wenig, um etwas zu ändern.'}`
      }`;
    },
  },

  notes: {
    comparedOn: (networks) => `Die Protokolle wurden nur in ${count(networks, 'Netz', 'Netzen')} verglichen.`,
    searchCut: () => 'Die Suche nach der besten Mischung der Protokolle wurde abgekürzt.',
    leftOutTrips: (trips) =>
      `${trips === 1 ? 'Eine Zeit, die mehreren Verbindungsaufbauten widerspricht, zählt' : `${trips} Zeiten, die mehreren Verbindungsaufbauten widersprechen, zählen`} nicht zur Umlaufzeit.`,
    untriedOrigins: (origins) =>
      `Für ${count(origins, 'Ursprung', 'Ursprünge')} mit den wenigsten Bytes wurden keine anderen Protokolle erprobt.`,
  },

  udpBlocked: () => 'UDP ist in diesem Netz blockiert',
  endless: (afterMs) =>
    `die Seite lädt in diesem Netz nicht${afterMs === null ? ' mit dem, was ihre Server anbieten' : `: kein Load-Event nach ${Math.round(afterMs / 1000)} s`}`,
};

function policedClause(packets: number): string {
  return `Dieses Netz drosselt UDP auf einen Bruchteil seiner Rate: Es verwarf ${count(packets, 'Paket', 'Pakete')} von HTTP/3.`;
}

/** As a predicate: `ging 1 Paket verloren`. */
const packetsLost = (packets: number): string =>
  `${round(packets) === '1' ? 'ging' : 'gingen'} ${count(packets, 'Paket', 'Pakete')} verloren`;

const requestsOf = (requests: number): string => count(requests, 'Anfrage', 'Anfragen');

function fastestClause(chance: FastestChance): string {
  if (chance === 'decided') return 'ist am schnellsten';
  return chance === null
    ? 'ist vielleicht am schnellsten'
    : `ist mit einer Wahrscheinlichkeit von ${percent(chance)} am schnellsten`;
}

function slowerClauses(slower: readonly SlowerProtocol[]): string[] {
  const byWords = groupBy(slower, ({ ratio }) =>
    ratio >= NOTABLY_SLOWER
      ? `${decimal(ratio, ratio < 3 ? 1 : 0)}-mal so lange`
      : `${percent(ratio - 1)} länger`,
  );
  return [...byWords].map(([words, those]) => {
    const names = list(those.map(({ protocol }) => NAME[protocol]));
    return `${names} ${those.length === 1 ? 'braucht' : 'brauchen'} ${words}`;
  });
}

function behaviourOf(behaviour: Behaviour): string {
  if (behaviour === 'browser') return 'ohne Festlegungen';
  return behaviour === 'pins' ? 'mit Festlegungen' : `mit Festlegung auf ${NAME[behaviour]}`;
}
