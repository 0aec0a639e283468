import { MINUTE_MS, PROTOCOL_NAME, PROTOCOLS } from '@hopwise/contract';
import { plural, t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import {
  formatDuration,
  formatList,
  formatTime,
  formatTimeOfDay,
  keepUnitsTogether,
} from '../../ui/format.ts';
import { findFastest, Monitor, type MonitoredTimes, summarise } from './monitor.ts';
import { verifyPage } from './verify-page.ts';

const PERIODS_MIN = [5, 10, 30] as const;
const DURATIONS_MIN = [30, 60, 240] as const;

const el = builder();

/** Has a page verified again and again while the panel is open, and shows whether the fastest protocol changes. */
export class MonitorControl {
  readonly element: HTMLElement;
  readonly #every = renderMinutes(PERIODS_MIN);
  readonly #for = renderMinutes(DURATIONS_MIN);
  readonly #button = el('button', { type: 'button', class: 'hw-button' });
  readonly #status = el('p', { class: 'hw-note', role: 'status' });
  readonly #result = el('div', { class: 'hw-monitored' });
  readonly #findUrl: () => string | null;
  readonly #monitor: Monitor;
  #url = '';

  /**
   * @param findUrl the page to verify; null for none
   * @param onVerified called after each verification that has succeeded
   */
  constructor(findUrl: () => string | null, onVerified: () => void) {
    this.#findUrl = findUrl;
    const verify = async (signal: AbortSignal) => {
      const verification = await verifyPage(this.#url, signal);
      onVerified();
      return verification;
    };
    this.#monitor = new Monitor(verify, () => this.#draw());
    this.#button.addEventListener('click', () => this.#click());
    this.element = el(
      'section',
      { class: 'hw-card' },
      el('h3', {}, t('monitorTitle')),
      el('p', {}, t('monitorExplanation')),
      el(
        'div',
        { class: 'hw-monitor' },
        el('label', {}, t('monitorEvery'), ' ', this.#every),
        el('label', {}, t('monitorFor'), ' ', this.#for),
        this.#button,
      ),
      this.#status,
      this.#result,
    );
    this.#draw();
  }

  #click(): void {
    if (this.#monitor.isRunning) {
      this.#monitor.stop();
      return;
    }
    const url = this.#findUrl();
    if (url === null) return;
    this.#url = url;
    void this.#monitor.start({ everyMs: minutesOf(this.#every), forMs: minutesOf(this.#for) });
  }

  #draw(): void {
    const { isRunning, times, planned, nextAtMs } = this.#monitor;
    this.#button.textContent = isRunning ? t('monitorStop') : t('monitorStart');
    for (const select of [this.#every, this.#for]) select.disabled = isRunning;
    this.#status.textContent = planned === 0 ? '' : this.#describeProgress(times.length, planned, nextAtMs);
    this.#result.replaceChildren(...(times.length === 0 ? [] : renderTimes(times)));
  }

  #describeProgress(done: number, planned: number, nextAtMs: number | null): string {
    const counted = t('monitorDone', { done, planned, page: this.#url });
    if (nextAtMs !== null) return `${counted} ${t('monitorNext', { time: formatTimeOfDay(nextAtMs) })}`;
    if (this.#monitor.isRunning) return `${counted} ${t('monitorVerifying')}`;
    return counted;
  }
}

function renderMinutes(choices: readonly number[]): HTMLSelectElement {
  return el(
    'select',
    {},
    ...choices.map((minutes) => el('option', { value: String(minutes) }, plural('monitorMinutes', minutes))),
  );
}

const minutesOf = (select: HTMLSelectElement): number => Number(select.value) * MINUTE_MS;

function renderTimes(times: readonly MonitoredTimes[]): HTMLElement[] {
  const head = [
    t('monitorColumnTime'),
    ...PROTOCOLS.map((protocol) => PROTOCOL_NAME[protocol]),
    t('monitorColumnFastest'),
  ];
  const table = el(
    'table',
    { class: 'hw-table' },
    el('thead', {}, el('tr', {}, ...head.map((text) => el('th', { scope: 'col' }, text)))),
    el('tbody', {}, ...times.toReversed().map(renderRow)),
  );
  return [
    el('p', {}, el('strong', {}, describeMonitored(times))),
    el('div', { class: 'hw-scroll', tabindex: '0', role: 'group', 'aria-label': t('monitorTitle') }, table),
  ];
}

function renderRow(times: MonitoredTimes): HTMLElement {
  const { atMs, medianMs, problem } = times;
  const time = el('th', { scope: 'row' }, formatTimeOfDay(atMs));
  if (problem !== '') return el('tr', {}, time, el('td', { colspan: String(PROTOCOLS.length + 1) }, problem));
  const fastest = findFastest(times);
  return el(
    'tr',
    {},
    time,
    ...PROTOCOLS.map((protocol) => {
      const ms = medianMs[protocol];
      return el('td', { class: 'hw-number' }, ms === undefined ? '–' : keepUnitsTogether(formatDuration(ms)));
    }),
    el('td', {}, fastest === null ? t('monitorEven') : PROTOCOL_NAME[fastest]),
  );
}

/** What a person wants to know first. */
function describeMonitored(times: readonly MonitoredTimes[]): string {
  const { verified, fastest, changedAtMs } = summarise(times);
  if (verified === 0) return t('monitorNothing');
  if (fastest.length === 0) return t('monitorAllEven');
  const counts = formatList(
    fastest.map(({ protocol, times: count }) =>
      t('monitorCount', { protocol: PROTOCOL_NAME[protocol], count }),
    ),
  );
  const summary = plural('monitorSummary', verified, { counts });
  return changedAtMs === null
    ? summary
    : `${summary} ${t('monitorChanged', { time: formatTime(changedAtMs) })}`;
}
