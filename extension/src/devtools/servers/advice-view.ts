import {
  linkTag,
  SERVER_KINDS,
  SERVER_SNIPPETS,
  type ServerAdvice,
  type ServerAdviceList,
} from '@hopwise/pageload-emulator';
import { type PlainKey, plural, t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { formatList, formatOrigin, formatShare } from '../../ui/format.ts';
import { caveatOf, nameChange, SERVER_NAMES } from './advice-text.ts';

const el = builder();

const EFFORTS: Record<ServerAdvice['effort'], PlainKey> = {
  1: 'serversSetting',
  2: 'serversService',
  3: 'serversRebuild',
};
const VISITS: Record<ServerAdvice['visit'], PlainKey> = { first: 'serversFirst', later: 'serversLater' };

/** Origins at which a change alone gains less are counted, not named. */
const MIN_SHOWN_GAIN = 0.005;
const MAX_NAMED = 5;

/**
 * The changes, the largest gain for its effort first, each with its configuration.
 *
 * @param unproven whether changes were tried whose gains the lab has not confirmed
 */
export function renderAdvice(
  { advice, together, needsHttps, owned }: ServerAdviceList,
  unproven: boolean,
): HTMLElement[] {
  const https = needsHttps ? [el('p', { class: 'hw-note' }, t('serversHttps'))] : [];
  if (advice.length === 0) {
    const none = unproven ? t('serversNone') : t('serversNoneConfirmed');
    const tried = t('serversTried', { origins: formatList(owned.map(formatOrigin)) });
    return [el('p', { class: 'hw-headline' }, none), el('p', { class: 'hw-note' }, tried), ...https];
  }
  return [
    ...https,
    el('p', { class: 'hw-headline' }, describeGain(advice, together)),
    el('ol', { class: 'hw-changes' }, ...advice.map(renderChange)),
  ];
}

/**
 * What all changes gain together, or the only one: each has its own gain beside it in the list. One may gain more than all do, such as a
 * change of TCP where another has browsers use HTTP/3.
 */
function describeGain(advice: readonly ServerAdvice[], together: number | null): string {
  const best = (of: readonly ServerAdvice[]) => Math.max(0, ...of.map(({ gain }) => gain));
  if (together === null) return t('serversBest', { gain: formatShare(best(advice)) });
  const all = formatShare(Math.max(0, together));
  const bestOfFirst = best(advice.filter(({ visit }) => visit === 'first'));
  return together < bestOfFirst
    ? t('serversOneBest', { gain: formatShare(bestOfFirst), all })
    : t('serversTogether', { gain: all });
}

function renderChange(advice: ServerAdvice): HTMLElement {
  const { kind, effort, visit, gain, helps, harms, proof, origins, networks } = advice;
  const caveat = caveatOf(kind);
  const kept =
    proof.cells === 0 ? t('serversUntested') : t('serversKept', { kept: proof.kept, cells: proof.cells });
  return el(
    'li',
    { 'data-kind': kind },
    el(
      'div',
      { class: 'hw-change-title' },
      el('strong', {}, nameChange(kind)),
      el('span', { class: 'hw-number' }, t('serversGain', { gain: formatShare(gain) })),
    ),
    origins.length === 0 ? null : el('p', {}, t('serversWhere', { origins: placesOf(origins) })),
    el(
      'p',
      { class: 'hw-note' },
      [
        t(EFFORTS[effort]),
        t(VISITS[visit]),
        t('serversHelps', { helps: formatShare(helps), harms: formatShare(harms) }),
        kept,
      ].join(' · '),
    ),
    networks.length < 2
      ? null
      : el(
          'p',
          { class: 'hw-note' },
          networks.map((network) => `${network.name} ${signedShare(network.gain)}`).join(' · '),
        ),
    caveat === null ? null : el('p', { class: 'hw-note' }, caveat),
    renderConfiguration(advice),
  );
}

/** Without a sign where it would be that of nothing. */
function signedShare(share: number): string {
  const shown = formatShare(Math.abs(share) < 0.005 ? 0 : Math.abs(share));
  return share <= -0.005 ? `−${shown}` : shown;
}

/** The origins at which a change gains most by itself; how many there are where it gains only together. */
function placesOf(origins: ServerAdvice['origins']): string {
  const named = origins.filter(({ gain }) => gain >= MIN_SHOWN_GAIN).slice(0, MAX_NAMED);
  if (named.length === 0) return plural('origins', origins.length);
  const names = named.map(({ origin, gain }) => `${formatOrigin(origin)} (${signedShare(gain)})`).join(', ');
  const more = origins.length - named.length;
  return more === 0 ? names : t('serversMore', { names, count: more });
}

/** What to copy; null where there is nothing to configure. */
function renderConfiguration({ kind, origins, links = [] }: ServerAdvice): HTMLElement | null {
  const tags = links.flatMap((each) => each.links.map(linkTag));
  const host = origins[0]?.origin.replace(/^https?:\/\//, '') ?? 'HOST';
  const snippets = SERVER_KINDS.flatMap((server): [string, string][] => {
    const snippet = SERVER_SNIPPETS[kind][server];
    return snippet === undefined ? [] : [[SERVER_NAMES[server], snippet.replaceAll('HOST', host)]];
  });
  const parts: [string, string][] = tags.length > 0 ? [['HTML', tags.join('\n')], ...snippets] : snippets;
  if (parts.length === 0) return null;
  return el(
    'details',
    {},
    el('summary', {}, t('serversConfiguration')),
    ...parts.flatMap(([name, text]) => [
      el('h4', {}, name),
      // Wide lines scroll, also by keyboard.
      el('pre', { class: 'hw-snippet', tabindex: '0', 'aria-label': name, role: 'region' }, text),
    ]),
  );
}
