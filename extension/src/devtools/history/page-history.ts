import {
  type Assignment,
  EVERY_ORIGIN,
  groupBy,
  median,
  PROTOCOL_NAME,
  PROTOCOLS,
  type Protocol,
  type Recording,
} from '@hopwise/contract';
import {
  findComparableLoads,
  hasPins,
  keyOfPins,
  pltOf,
  visitsUntil,
} from '../../evidence/comparable-loads.ts';
import { compareLoads, type PinOutcome } from '../../evidence/pin-outcomes.ts';
import type { Visits } from '../../evidence/visit-kind.ts';
import { plural, t } from '../../language/translate.ts';
import { judgeLoad } from '../../load/load-quality.ts';
import { isOfPage, type StoredLoad } from '../../storage/loads.ts';
import { formatOrigin } from '../../ui/format.ts';

/** Loads of one page on one network with the same pins. */
export interface PinGroup {
  pinned: Assignment;
  loads: StoredLoad[];
  medianMs: number;
  lowestMs: number;
  highestMs: number;
  /** Against the loads without pins; null for these themselves and where there are none. */
  outcome: Omit<PinOutcome, 'origin' | 'kind'> | null;
}

export interface PageHistory {
  /** Loads of the page, the newest first, the shown one among them. */
  loads: StoredLoad[];
  /** Full loads on the network of the newest full one, oldest first. */
  comparable: StoredLoad[];
  /** `comparable` by their pins, those without pins first. */
  groups: PinGroup[];
}

/**
 * What is known of a load's page from stored loads.
 *
 * @param shown the load that the panel shows; one from a file is not among the stored ones
 * @param all stored loads, oldest first
 */
export function readHistory(shown: StoredLoad, all: readonly StoredLoad[]): PageHistory {
  const stored = all.filter((load) => load.id !== shown.id && isOfPage(load, shown.recording.url));
  const loads = [...stored, shown].toSorted((a, b) => timeMsOf(b) - timeMsOf(a) || b.id - a.id);
  const last = all.findLast((load) => stored.includes(load) || load.id === shown.id);
  const full = last && [
    ...findComparableLoads(last, all),
    ...(judgeLoad(last).kind === 'full' ? [last] : []),
  ];
  return {
    loads,
    comparable: full ?? [],
    groups: last ? groupByPins(full ?? [], visitsUntil(last, all)) : [],
  };
}

function groupByPins(loads: readonly StoredLoad[], visits: Visits): PinGroup[] {
  const groups = [...groupBy(loads, keyOfPins).values()].sort((a, b) => pinsOf(a).length - pinsOf(b).length);
  const before = visits.selectLater(loads.filter((load) => !hasPins(load))).map(pltOf);
  return groups.map((group) => {
    const times = group.map(pltOf);
    return {
      pinned: group[0]!.pinned ?? {},
      loads: [...group],
      medianMs: median(times),
      lowestMs: Math.min(...times),
      highestMs: Math.max(...times),
      outcome: before.length > 0 && hasPins(group[0]!) ? compareLoads(before, times) : null,
    };
  });
}

const pinsOf = ([load]: readonly StoredLoad[]) => Object.keys(load?.pinned ?? {});

/** When a load began, Unix time in milliseconds; 0 when unknown. */
export function timeMsOf({ recording }: StoredLoad): number {
  return Date.parse(recording.recordedAt) || 0;
}

/** More pinned origins are counted, not listed. */
const MAX_LISTED_PINS = 2;

/** `cdn.test on HTTP/2`, `5 origins on HTTP/2`, `no pins`. */
export function describePins(pinned: StoredLoad['pinned']): string {
  if (pinned === null) return t('pinsChanged');
  const entries = Object.entries(pinned ?? {});
  if (entries.length === 0) return t('pinsNone');
  if (entries.length <= MAX_LISTED_PINS) {
    return entries
      .map(([origin, on]) =>
        t('pinOn', {
          origin: origin === EVERY_ORIGIN ? t('everyOrigin') : formatOrigin(origin),
          protocol: PROTOCOL_NAME[on],
        }),
      )
      .join(', ');
  }
  return countByProtocol(entries.map(([, protocol]) => protocol))
    .map(([protocol, count]) =>
      t('pinOn', { origin: plural('origins', count), protocol: PROTOCOL_NAME[protocol] }),
    )
    .join(', ');
}

/** `12 HTTP/2, 3 HTTP/3`: requests whose protocol is known. */
export function describeProtocols({ requests }: Recording): string {
  const known = requests.flatMap(({ protocol }) => protocol ?? []);
  const counts = countByProtocol(known).map(([protocol, count]) => `${count} ${PROTOCOL_NAME[protocol]}`);
  return counts.join(', ') || t('unknown');
}

const countByProtocol = (protocols: readonly Protocol[]): [Protocol, number][] =>
  PROTOCOLS.map((each): [Protocol, number] => [each, protocols.filter((one) => one === each).length]).filter(
    ([, count]) => count > 0,
  );
