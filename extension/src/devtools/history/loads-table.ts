import { currentLocale, type PlainKey, t } from '../../language/translate.ts';
import { judgeLoad, type LoadKind } from '../../load/load-quality.ts';
import type { StoredLoad } from '../../storage/loads.ts';
import { builder } from '../../ui/dom.ts';
import { createDurationFormat, formatMbps, formatMs, keepUnitsTogether } from '../../ui/format.ts';
import type { SeenNetwork } from '../emulation/pooled-network.ts';
import { describePins, describeProtocols, timeMsOf } from './page-history.ts';

const el = builder();

const KIND: Record<LoadKind, PlainKey> = {
  full: 'loadKindFull',
  cached: 'loadKindCached',
  partial: 'loadKindPartial',
  error: 'loadKindError',
  form: 'loadKindForm',
  background: 'loadKindBackground',
  disturbed: 'loadKindDisturbed',
  shared: 'loadKindShared',
};

/** `20 Nov 2026, 12:04:03`. */
export function formatTime(load: StoredLoad): string {
  const ms = timeMsOf(load);
  if (ms === 0) return t('loadTimeUnknown');
  return new Intl.DateTimeFormat(currentLocale(), { dateStyle: 'medium', timeStyle: 'medium' }).format(ms);
}

/** `62 ms, 18 Mbit/s`. */
export function formatNetwork({ rttMs, downMbps }: SeenNetwork): string {
  return keepUnitsTogether(`${formatMs(rttMs.median)}, ${formatMbps(downMbps.median)}`);
}

/** Loads of one page; two of them are selected. */
export class LoadsTable {
  readonly element: HTMLElement;
  readonly #networks = new Map<number, HTMLElement>();
  readonly #boxes = new Map<number, HTMLInputElement>();
  readonly #onSelect: (ids: readonly number[]) => void;
  /** Writes load times, all in one unit. */
  readonly #write: (ms: number) => string;
  /** The load that was selected last is the last. */
  #selected: number[] = [];

  /**
   * @param loads the newest first
   * @param shownId of the load that the panel shows
   * @param onSelect called with the numbers of the selected loads, two at most
   */
  constructor(loads: readonly StoredLoad[], shownId: number, onSelect: (ids: readonly number[]) => void) {
    this.#onSelect = onSelect;
    this.#write = createDurationFormat(Math.max(0, ...loads.map(({ recording }) => recording.pltMs ?? 0)));
    const head = [
      t('columnCompare'),
      t('columnNetwork'),
      t('diffProtocols'),
      t('diffPins'),
      t('loadEvent'),
      t('columnLoad'),
    ];
    this.element = el(
      'table',
      { class: 'hw-table hw-loads' },
      el('thead', {}, el('tr', {}, ...head.map((text) => el('th', { scope: 'col' }, text)))),
      el('tbody', {}, ...loads.map((load) => this.#renderRow(load, load.id === shownId))),
    );
  }

  select(ids: readonly number[]): void {
    // More than two: those selected before the others go.
    this.#selected = ids.slice(-2);
    for (const [id, box] of this.#boxes) box.checked = this.#selected.includes(id);
    this.#onSelect(this.#selected);
  }

  setNetwork(id: number, network: SeenNetwork): void {
    const cell = this.#networks.get(id);
    if (cell) cell.textContent = formatNetwork(network);
  }

  #renderRow(load: StoredLoad, isShown: boolean): HTMLElement {
    const { recording, pinned } = load;
    const kind = t(KIND[judgeLoad(load).kind]);
    const box = el('input', { type: 'checkbox' });
    box.addEventListener('change', () => {
      const others = this.#selected.filter((id) => id !== load.id);
      this.select(box.checked ? [...others, load.id] : others);
    });
    this.#boxes.set(load.id, box);
    const network = el('td', { class: 'hw-number' }, '–');
    this.#networks.set(load.id, network);
    return el(
      'tr',
      isShown ? { class: 'hw-shown' } : {},
      el('th', { scope: 'row' }, el('label', { class: 'hw-check' }, box, formatTime(load))),
      network,
      el('td', {}, describeProtocols(recording)),
      el('td', {}, describePins(pinned)),
      el(
        'td',
        { class: 'hw-number' },
        recording.pltMs === null ? t('loadNever') : this.#write(recording.pltMs),
      ),
      el('td', {}, isShown ? t('loadShown', { kind }) : kind),
    );
  }
}
