import type { OriginRecommendation, Prediction } from '@hopwise/contract';
import { PROTOCOL_NAME } from '@hopwise/contract';
import { PROTOCOLS } from '@hopwise/pageload-emulator';
import { t } from '../../language/translate.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { renderButton, renderFigures } from '../../ui/controls.ts';
import { builder } from '../../ui/dom.ts';
import {
  createDurationFormat,
  formatBytes,
  formatDuration,
  formatMs,
  formatOrigin,
  keepUnitsTogether,
} from '../../ui/format.ts';
import { likeliestUdp } from '../../ui/network-view.ts';
import { adviseOrigins, type OriginAdvice } from '../../ui/origin-advice.ts';
import { describeChange } from '../describe-change.ts';
import type { EmulationClient } from '../emulation/emulation-client.ts';
import type { OriginFacts } from '../emulation/origin-facts.ts';
import { explainH3 } from './why-h3.ts';

const el = builder();

/** The page's origins in a table, and beside it why one of them was asked over HTTP/3 or not. */
export class OriginsTab {
  readonly element: HTMLElement;
  readonly #load: StoredLoad;
  readonly #prediction: Prediction;
  readonly #advice: ReadonlyMap<string, OriginAdvice>;
  readonly #renderAction: (origin: string) => HTMLElement | null;
  readonly #table = el('div', {});
  readonly #drawer = el('div', { class: 'hw-drawer' });
  #facts: readonly OriginFacts[] = [];
  #selected: string | null = null;
  /** Whether pins do enough, or are to be undone first: nothing is then to be done at an origin. */
  #isSettled = false;
  /** Light recordings name no connections. */
  #showsConnections = false;
  /** Writes changes of the load time, in its unit: one for the whole table. */
  readonly #write: (ms: number) => string;

  /**
   * @param renderAction controls that pin an origin; null for none
   * @param footer shown below the table; null for none
   */
  constructor(
    load: StoredLoad,
    prediction: Prediction,
    emulation: Pick<EmulationClient, 'askOrigins'>,
    renderAction: (origin: string) => HTMLElement | null,
    footer: HTMLElement | null,
  ) {
    this.#load = load;
    this.#prediction = prediction;
    this.#renderAction = renderAction;
    this.#write = createDurationFormat(prediction.decision.baseline.pltMs);
    this.#advice = new Map(adviseOrigins(prediction).advised.map((advice) => [advice.origin.origin, advice]));
    const frame = el('div', { class: 'hw-origins-frame' }, this.#table, footer);
    this.element = el('div', { class: 'hw-fill' }, el('div', { class: 'hw-split' }, frame, this.#drawer));
    emulation.askOrigins(({ origins }) => {
      this.#facts = origins;
      this.#showsConnections = origins.some(({ connections }) => connections !== null);
      this.draw();
    });
  }

  /** Draws the table, also where pins have changed since, and whether they settle what is to be done. */
  draw(isSettled = this.#isSettled): void {
    this.#isSettled = isSettled;
    const origins = new Map(this.#prediction.origins.map((each) => [each.origin, each]));
    const head = [
      el('th', { scope: 'col' }, t('columnOrigin')),
      ...renderHeads(this.#showsConnections),
      ...PROTOCOLS.map((each) =>
        el('th', { scope: 'col', class: 'hw-number hw-wide-1' }, PROTOCOL_NAME[each]),
      ),
      el('th', { scope: 'col' }, t('columnAction')),
    ];
    const rows = this.#facts.map((facts) => this.#renderRow(facts, origins.get(facts.origin)));
    const isTogether = !isSettled && [...this.#advice.values()].some((advice) => advice.isTogether);
    const hints = [t('originTimesHint'), ...(isTogether ? [t('originTogetherHint')] : [])];
    this.#table.replaceChildren(
      el(
        'table',
        { class: 'hw-table hw-origins' },
        el('thead', {}, el('tr', {}, ...head)),
        el('tbody', {}, ...rows),
      ),
      el('p', { class: 'hw-note hw-origins-hint' }, hints.join(' ')),
    );
    this.#drawDrawer();
  }

  #renderRow(facts: OriginFacts, recommended: OriginRecommendation | undefined): HTMLElement {
    const { origin, requests, bytes, rttMs, connections, isThirdParty, site } = facts;
    const advice = this.#isSettled ? undefined : this.#advice.get(origin);
    const own = this.#prediction.decision.baseline.protocols[origin];
    const ownMs = own && recommended?.pltMs[own];
    const name = renderButton(formatOrigin(origin), () => this.#select(origin), {
      class: 'hw-row-name',
      title: isThirdParty ? `${origin}\n${t('originThirdParty', { site })}` : origin,
    });
    const number = (text: string, className = '') =>
      el('td', { class: `hw-number ${className}` }, keepUnitsTogether(text));
    const row = el(
      'tr',
      {
        'data-origin': origin,
        class: `${isThirdParty ? 'hw-third-party' : ''}${origin === this.#selected ? ' hw-selected' : ''}`,
      },
      el('th', { scope: 'row' }, name),
      number(String(requests), 'hw-wide-1'),
      number(formatBytes(bytes)),
      number(rttMs === null ? '–' : formatMs(rttMs), 'hw-wide-2'),
      el('td', { class: 'hw-wide-2' }, listOffers(facts)),
      this.#showsConnections ? number(connections === null ? '–' : String(connections), 'hw-wide-2') : null,
      ...PROTOCOLS.map((protocol) => {
        const ms = recommended?.pltMs[protocol];
        if (ms === undefined || ownMs === undefined) return number('–', 'hw-wide-1');
        const change =
          protocol === own ? t('originNow') : describeChange(ms - ownMs, ownMs, this.#write) || '≈';
        const cell = number(change, 'hw-wide-1');
        cell.classList.toggle('hw-fastest', recommended?.decided === true && ms < ownMs);
        cell.title = formatDuration(ms);
        if (recommended?.decided !== true && protocol !== own && change !== '≈') {
          cell.classList.add('hw-unsure');
          cell.append(el('span', { class: 'hw-visually-hidden' }, ` (${t('originUnsure')})`));
        }
        return cell;
      }),
      el(
        'td',
        { class: 'hw-origin-action' },
        advice ? keepUnitsTogether(describeAdvice(advice)) : '–',
        this.#renderAction(origin),
      ),
    );
    row.addEventListener('click', ({ target }) => {
      if (!(target as Element).closest('button')) this.#select(origin);
    });
    return row;
  }

  #select(origin: string): void {
    this.#selected = this.#selected === origin ? null : origin;
    for (const row of this.#table.querySelectorAll<HTMLElement>('[data-origin]')) {
      row.classList.toggle('hw-selected', row.dataset.origin === this.#selected);
    }
    this.#drawDrawer();
  }

  #drawDrawer(): void {
    const facts = this.#facts.find(({ origin }) => origin === this.#selected);
    this.#drawer.replaceChildren(...(facts ? [this.#renderDetails(facts)] : []));
  }

  #renderDetails(facts: OriginFacts): HTMLElement {
    const { origin, site, isThirdParty, requests, bytes, connections, rttMs } = facts;
    const load = this.#load;
    const own = this.#prediction.origins.find((each) => each.origin === origin);
    const why = explainH3({
      facts,
      udp: likeliestUdp(this.#prediction.network),
      visit: this.#prediction.decision.baseline.visit,
      verified: load.verification?.origins.find((each) => each.origin === origin) ?? null,
      pinned: load.pinned ?? null,
    });
    const reason = (this.#isSettled ? undefined : this.#advice.get(origin)?.reason) ?? own?.reason;
    return el(
      'aside',
      { class: 'hw-details', 'aria-label': t('originDetails') },
      el(
        'div',
        { class: 'hw-details-head' },
        el('h3', {}, formatOrigin(origin)),
        renderButton(t('close'), () => this.#select(origin), { 'aria-label': t('detailsClose') }),
      ),
      isThirdParty ? el('p', { class: 'hw-muted' }, t('originThirdParty', { site })) : null,
      el(
        'div',
        { class: 'hw-details-columns' },
        el(
          'div',
          {},
          el('h4', {}, why.title),
          el('p', { class: 'hw-h3-answer' }, why.answer),
          el('dl', { class: 'hw-facts' }, ...renderFigures(why.facts)),
        ),
        el(
          'div',
          {},
          el('h4', {}, t('originReason')),
          reason ? el('p', {}, keepUnitsTogether(reason)) : null,
          el(
            'dl',
            { class: 'hw-facts' },
            ...renderFigures([
              [t('columnRequests'), String(requests)],
              [t('columnSize'), formatBytes(bytes)],
              [t('figureRoundTrip'), rttMs === null ? t('originUnknown') : formatMs(rttMs)],
              [t('panelConnections'), connections === null ? t('originUnknown') : String(connections)],
              [t('columnOffers'), listOffers(facts)],
            ]),
          ),
        ),
      ),
    );
  }
}

function renderHeads(withConnections: boolean): HTMLElement[] {
  const head = (text: string, className: string) => el('th', { scope: 'col', class: className }, text);
  return [
    head(t('columnRequests'), 'hw-number hw-wide-1'),
    head(t('columnSize'), 'hw-number hw-size'),
    head(t('columnRtt'), 'hw-number hw-wide-2'),
    head(t('columnOffers'), 'hw-wide-2'),
    ...(withConnections ? [head(t('columnConnections'), 'hw-number hw-wide-2')] : []),
  ];
}

/** `avoid HTTP/3, saves 2.1 s together` */
const describeAdvice = ({ instruction, gain }: OriginAdvice): string =>
  gain === '' ? instruction : t('adviceWithGain', { instruction, gain });

/** `HTTP/2, HTTP/3`: what was used or offered. */
function listOffers({ used, offersH3 }: OriginFacts): string {
  const offers = PROTOCOLS.filter((each) => used[each] || (each === 'h3' && offersH3));
  return offers.length === 0 ? '–' : offers.map((each) => PROTOCOL_NAME[each]).join(', ');
}
