import { PROTOCOL_NAME, type Prediction } from '@hopwise/contract';
import {
  type NetworkFigures,
  PROTOCOLS,
  type Protocol,
  withEmulatedChange,
} from '@hopwise/pageload-emulator';
import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { createDurationFormat } from '../../ui/format.ts';
import { queueMs } from '../../ui/network-view.ts';
import { describeChange } from '../describe-change.ts';
import type { EmulationClient } from '../emulation/emulation-client.ts';
import type { ProtocolTimes } from '../emulation/what-if.ts';
import type { MapCell } from '../emulation/winner-map.ts';
import { listFastestShown } from './fastest-shown.ts';
import { ServerLoss } from './server-loss.ts';
import { SettingsForm } from './settings-form.ts';
import { renderWinnerMap } from './winner-map-view.ts';

const el = builder();

/** The map follows the settings once they have not changed for this long, milliseconds. */
const MAP_DELAY_MS = 250;
/** Bounds of the map's width, CSS pixels. */
const MIN_MAP_PX = 280;
const MAX_MAP_PX = 640;

/** The network that a prediction assumes, as a starting point. */
export function networkOf({ network }: Prediction): NetworkFigures {
  const { rttMs, downMbps, upMbps, loss, lossBurst, udp } = network;
  return {
    rttMs,
    downMbps,
    upMbps,
    loss,
    lossBurst,
    queueMs: queueMs(network),
    // UDP that loses more than TCP has no slider.
    udp: udp === 'lossy' ? 'open' : udp,
  };
}

/** Emulated changes of load times, carried over to those of the answer, so that what is now is what the overview shows. */
function carryOver(
  decided: Prediction['protocols'],
  present: ProtocolTimes,
  asked: ProtocolTimes,
): ProtocolTimes {
  const times = PROTOCOLS.map((protocol) => {
    const time = decided[protocol];
    const [fromMs, toMs] = [present[protocol], asked[protocol]];
    if ('unavailable' in time || fromMs === null || toMs === null) return [protocol, toMs];
    return [protocol, withEmulatedChange(time, fromMs, toMs).pltMs];
  });
  return Object.fromEntries(times) as ProtocolTimes;
}

/** Load times of the page on other networks and servers, as the sliders move, and a map of the fastest protocol. */
export class WhatIfTab {
  readonly element: HTMLElement;
  readonly #emulation: EmulationClient;
  readonly #decided: Prediction['protocols'];
  readonly #form: SettingsForm;
  readonly #serverLoss: ServerLoss;
  readonly #bars = el('div', { class: 'hw-what-if-bars', 'aria-live': 'off' });
  readonly #status = el('p', { class: 'hw-note' });
  readonly #map = el('div', { class: 'hw-what-if-map' });
  /** The map is drawn for its width: scaled, its texts would become too small. */
  readonly #mapResize = new ResizeObserver(() => this.#showMap());
  #cells: readonly MapCell[] = [];
  #mapWidthPx = 0;
  #mapTimer: ReturnType<typeof setTimeout> | undefined;
  /** Emulated times with the network and servers as they are. */
  #present: ProtocolTimes | null = null;

  constructor(prediction: Prediction, emulation: EmulationClient) {
    this.#emulation = emulation;
    this.#decided = prediction.protocols;
    this.#form = new SettingsForm(networkOf(prediction), () => this.#ask());
    this.#serverLoss = new ServerLoss(emulation, () => this.#form.settings);
    this.element = el(
      'div',
      { class: 'hw-what-if' },
      el('section', { class: 'hw-card' }, this.#form.element),
      el(
        'section',
        { class: 'hw-card' },
        el('h3', {}, t('whatIfTimes')),
        this.#bars,
        this.#status,
        el('h3', { class: 'hw-map-title' }, t('whatIfMap')),
        this.#map,
        this.#serverLoss.element,
      ),
    );
    this.#mapResize.observe(this.#map);
    this.#ask();
  }

  #ask(): void {
    const { settings } = this.#form;
    this.#emulation.askWhatIf(settings, ({ times, loads, isFinal }) => {
      if (isFinal) this.#present ??= times;
      this.#showTimes(carryOver(this.#decided, this.#present ?? times, times));
      const final = loads === 1 ? t('whatIfOne') : t('whatIfMany', { loads });
      this.#status.textContent = isFinal ? final : t('whatIfSoFar', { loads });
    });
    clearTimeout(this.#mapTimer);
    this.#mapTimer = setTimeout(() => {
      this.#serverLoss.update();
      this.#emulation.askMap(settings, ({ cells }) => {
        this.#cells = cells;
        this.#mapWidthPx = 0;
        this.#showMap();
      });
    }, MAP_DELAY_MS);
  }

  #showTimes(times: ProtocolTimes): void {
    const present = this.#present && carryOver(this.#decided, this.#present, this.#present);
    const all = [...PROTOCOLS.map((protocol) => times[protocol]), ...Object.values(present ?? {})];
    const longest = Math.max(1, ...all.filter((ms) => ms !== null));
    const format = createDurationFormat(longest);
    const fastest = listFastestShown(times, format);
    this.#bars.replaceChildren(
      ...PROTOCOLS.map((protocol) =>
        this.#renderBar(protocol, times[protocol], present?.[protocol] ?? null, { longest, fastest, format }),
      ),
    );
  }

  #renderBar(
    protocol: Protocol,
    ms: number | null,
    before: number | null,
    {
      longest,
      fastest,
      format,
    }: { longest: number; fastest: readonly Protocol[]; format: (ms: number) => string },
  ): HTMLElement {
    const bar = el('div', { class: 'hw-bar-track' });
    if (ms !== null) {
      const fill = el('div', { class: `hw-bar hw-bar-${protocol}` });
      fill.style.width = `${(100 * ms) / longest}%`;
      bar.append(fill);
    }
    if (before !== null) {
      const mark = el('div', { class: 'hw-bar-mark', title: t('whatIfNow', { time: format(before) }) });
      mark.style.left = `${(100 * before) / longest}%`;
      bar.append(mark);
    }
    const change = before === null || ms === null ? '' : describeChange(ms - before, before, format);
    return el(
      'div',
      { class: 'hw-bar-row', 'data-protocol': protocol },
      el('span', {}, PROTOCOL_NAME[protocol]),
      bar,
      el(
        'span',
        { class: fastest.includes(protocol) ? 'hw-number hw-fastest' : 'hw-number' },
        ms === null ? t('whatIfFails') : format(ms),
      ),
      el('span', { class: 'hw-number hw-bar-change' }, change),
    );
  }

  /** Draws the map where its cells or its width have changed. */
  #showMap(): void {
    const width = Math.max(MIN_MAP_PX, Math.min(MAX_MAP_PX, this.#map.clientWidth));
    if (this.#cells.length === 0 || width === this.#mapWidthPx) return;
    this.#mapWidthPx = width;
    this.#map.replaceChildren(renderWinnerMap(this.#cells, this.#form.settings.network, width));
  }
}
