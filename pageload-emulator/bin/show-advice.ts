import { printable, table } from '@hopwise/contract/terminal';
import {
  ADVICE_CAVEATS,
  ADVICE_WORDS,
  linkTag,
  SERVER_SNIPPETS,
  type ServerAdvice,
  type ServerAdviceList,
  type ServerKind,
} from '@hopwise/pageload-emulator';

/** Origins at which a change alone gains less are left out where others gain more. */
const MIN_SHOWN_GAIN = 0.005;
const HTTPS_FIRST = 'A page comes over http: offer https first, which HTTP/2 and HTTP/3 need.';
const NONE = 'No change at these servers saves 2% or more.';
const NONE_CONFIRMED =
  'No change that lab tests have confirmed saves 2% or more; --unproven tries the others too.';
const OTHERS_UNCONFIRMED =
  'Changes that lab tests have not confirmed are left out; --unproven tries them too.';
const EFFORTS = { 1: 'a setting', 2: 'a service', 3: 'a rebuild' } as const;
const VISITS = { first: 'first', later: 'later' } as const;

/** A page whose recorded load its emulation does not explain, so that what is predicted for it may be wrong. */
export interface MisunderstoodPage {
  page: string;
  why: string;
}

/**
 * Advice for a person.
 *
 * @param misunderstood the pages of which the gains may be wrong
 * @param kinds servers for which the configuration is shown
 * @param unproven whether changes were tried whose gains the lab has not confirmed
 */
export function showAdvice(
  list: ServerAdviceList,
  kinds: readonly ServerKind[],
  unproven: boolean,
  misunderstood: readonly MisunderstoodPage[] = [],
): string {
  const { owned, advice, together, needsHttps } = list;
  const places = `Tried at ${owned.map((origin) => printable(origin)).join(', ')}.`;
  const tried = needsHttps ? `${HTTPS_FIRST} ${places}` : places;
  const doubts = misunderstood.map(({ page, why }) =>
    printable(`The load of ${page} is not understood, so that gains there may be wrong: ${why}`, 300),
  );
  if (advice.length === 0) return [...doubts, `${unproven ? NONE : NONE_CONFIRMED} ${tried}`].join('\n');
  return [
    ...doubts,
    ...(doubts.length === 0 ? [] : ['']),
    table([
      ['', 'what to do', 'effort', 'visits', '>gain', '>helps', '>harms', '>kept', 'where'],
      ...advice.map(({ kind, effort, visit, gain, helps, harms, proof, origins }, index) => [
        String(index + 1),
        ADVICE_WORDS[kind],
        EFFORTS[effort],
        VISITS[visit],
        percent(gain),
        percent(helps),
        percent(harms),
        proof.cells === 0 ? 'untested' : `${proof.kept} of ${proof.cells}`,
        placesOf(origins),
      ]),
    ]),
    '',
    ...(together === null ? [] : [`All for first visits together: ${percent(together)}.`]),
    'Gains are shares of the load time, predicted. Kept: tests in the lab in which such a gain was within 5 points.',
    ...(unproven ? [] : [OTHERS_UNCONFIRMED]),
    tried,
    ...byNetwork(advice),
    ...advice.flatMap((each, index) => detailsOf(each, index + 1, kinds)),
  ].join('\n');
}

function placesOf(origins: ServerAdvice['origins']): string {
  const worthwhile = origins.filter(({ gain }) => gain >= MIN_SHOWN_GAIN);
  return (worthwhile.length === 0 ? origins : worthwhile)
    .map(({ origin, gain }) => `${printable(origin, 48)} (${percent(gain)})`)
    .join(', ');
}

/** The gains by network, where there are several. */
function byNetwork(advice: readonly ServerAdvice[]): string[] {
  const names = advice[0]!.networks.map(({ name }) => printable(name, 20));
  if (names.length < 2) return [];
  const rows = names.map((name, index) => [
    name,
    ...advice.map(({ networks }) => percent(networks[index]!.gain)),
  ]);
  return ['', table([['gain on', ...advice.map((_, index) => `>${index + 1}`)], ...rows])];
}

function detailsOf({ kind, links }: ServerAdvice, number: number, kinds: readonly ServerKind[]): string[] {
  const tags = (links ?? []).flatMap((each) =>
    each.links.length === 0
      ? []
      : [
          `   ${printable(each.page, 100)}:`,
          ...each.links.map((link) => `      ${linkTag({ ...link, href: printable(link.href, 200) })}`),
        ],
  );
  const snippets = kinds.flatMap((server) => {
    const snippet = SERVER_SNIPPETS[kind][server];
    return snippet === undefined
      ? []
      : [`   ${server}:`, ...snippet.split('\n').map((line) => `      ${line}`)];
  });
  const caveat = ADVICE_CAVEATS[kind];
  if (caveat === undefined && snippets.length + tags.length === 0) return [];
  const words = `${number}. ${ADVICE_WORDS[kind]}${caveat === undefined ? '' : `. ${caveat}`}`;
  return ['', words, ...tags, ...snippets];
}

function percent(share: number): string {
  const value = Math.round(share * 100);
  return `${value < 0 ? '−' : ''}${Math.abs(value)}%`;
}
