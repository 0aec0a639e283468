import type { CongestionControl, NetworkFigures } from '@hopwise/pageload-emulator';
import { formatNumber } from '../../language/format-number.ts';
import { t } from '../../language/translate.ts';
import { builder } from '../../ui/dom.ts';
import { formatLoss, formatMbps, formatMs } from '../../ui/format.ts';
import type { WhatIfServers, WhatIfSettings } from '../emulation/what-if.ts';
import { NAMED_NETWORKS } from './named-networks.ts';
import { Slider } from './slider.ts';

const el = builder();

const formatPackets = (packets: number) =>
  packets < 1.05
    ? t('whatIfSingle')
    : t('whatIfPackets', {
        packets: formatNumber(packets, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
      });

/** Rate at which UDP is held when it is chosen to be limited, Mbit/s. */
const POLICED_MBPS = 2;

/** Sliders for the network and choices for the servers. */
export class SettingsForm {
  readonly element: HTMLElement;
  readonly #own: NetworkFigures;
  readonly #onChange: () => void;
  readonly #sliders: Record<'rttMs' | 'downMbps' | 'upMbps' | 'loss' | 'lossBurst' | 'queueMs', Slider>;
  readonly #policed: Slider;
  readonly #named: HTMLSelectElement;
  readonly #udp: HTMLSelectElement;
  readonly #window: HTMLSelectElement;
  readonly #start: Slider;
  readonly #congestion: HTMLSelectElement;
  readonly #priorities: HTMLSelectElement;
  readonly #consolidated: HTMLInputElement;

  /** @param own the network that the prediction assumes */
  constructor(own: NetworkFigures, onChange: () => void) {
    this.#own = own;
    this.#onChange = onChange;
    const slider = (
      label: string,
      min: number,
      max: number,
      format: (value: number) => string,
      startsAtZero = false,
    ) => new Slider({ label, min, max, format, startsAtZero, onInput: () => this.#changeNetwork() });
    this.#sliders = {
      rttMs: slider(t('figureRoundTrip'), 1, 800, formatMs),
      downMbps: slider(t('figureDown'), 0.2, 500, formatMbps),
      upMbps: slider(t('figureUp'), 0.1, 200, formatMbps),
      loss: slider(t('figureLoss'), 0.0001, 0.1, formatLoss, true),
      lossBurst: slider(t('whatIfBurst'), 1, 12, formatPackets),
      queueMs: slider(t('figureQueue'), 5, 2_000, formatMs),
    };
    this.#policed = slider(t('whatIfPoliced'), 0.2, 50, formatMbps);
    this.#named = this.#select(t('whatIfBegin'), [
      ['own', t('whatIfThisNetwork')],
      ...NAMED_NETWORKS.map(({ id, title }): [string, string] => [id, t(title)]),
      ['custom', t('whatIfCustom')],
    ]);
    this.#udp = this.#select('UDP', [
      ['open', t('udpOpen')],
      ['policed', t('whatIfHeld')],
      ['blocked', t('udpBlocked')],
    ]);
    this.#window = this.#select(t('whatIfWindow'), [
      ['', t('whatIfAsNow')],
      ...[4, 10, 16, 32, 64].map((packets): [string, string] => [
        String(packets),
        t('whatIfPackets', { packets }),
      ]),
    ]);
    this.#start = new Slider({
      label: t('whatIfStart'),
      min: 0.1,
      max: 4,
      format: (share) => (share === 0 ? t('whatIfAsNow') : formatNumber(share, { style: 'percent' })),
      startsAtZero: true,
      onInput: onChange,
    });
    this.#start.value = 0;
    this.#congestion = this.#select(t('whatIfControl'), [
      ['', t('whatIfAsNow')],
      ['cubic', 'Cubic'],
      ['bbr', 'BBR'],
      ['reno', 'Reno'],
    ]);
    this.#priorities = this.#select(t('whatIfPriorities'), [
      ['', t('whatIfAsNow')],
      ['yes', t('whatIfHonoured')],
      ['no', t('whatIfIgnored')],
    ]);
    this.#consolidated = el('input', { type: 'checkbox' });
    this.#named.addEventListener('change', () => this.#showNamed());
    this.#udp.addEventListener('change', () => this.#changeNetwork());
    for (const control of [this.#window, this.#congestion, this.#priorities, this.#consolidated]) {
      control.addEventListener('change', onChange);
    }
    this.element = el(
      'form',
      { class: 'hw-what-if-form' },
      el(
        'fieldset',
        {},
        el('legend', {}, t('columnNetwork')),
        this.#field(this.#named),
        ...Object.values(this.#sliders).map(({ element }) => element),
        this.#field(this.#udp),
        this.#policed.element,
      ),
      el(
        'fieldset',
        {},
        el('legend', {}, t('whatIfServers')),
        this.#field(this.#window),
        this.#start.element,
        this.#field(this.#congestion),
        this.#field(this.#priorities),
        el('label', { class: 'hw-check' }, this.#consolidated, t('whatIfOneHost')),
      ),
    );
    this.element.addEventListener('submit', (event) => event.preventDefault());
    this.#show(own);
    this.#named.value = 'own';
  }

  get settings(): WhatIfSettings {
    const { rttMs, downMbps, upMbps, loss, lossBurst, queueMs } = this.#sliders;
    const udp = this.#udp.value as 'open' | 'policed' | 'blocked';
    return {
      network: {
        rttMs: rttMs.value,
        downMbps: downMbps.value,
        upMbps: upMbps.value,
        loss: loss.value,
        lossBurst: lossBurst.value,
        queueMs: queueMs.value,
        udp: udp === 'policed' ? this.#policed.value : udp,
      },
      servers: this.#servers(),
    };
  }

  #servers(): WhatIfServers {
    return {
      initialWindow: this.#window.value === '' ? null : Number(this.#window.value),
      startShare: this.#start.value || null,
      congestionControl: (this.#congestion.value || null) as CongestionControl | null,
      prioritises: this.#priorities.value === '' ? null : this.#priorities.value === 'yes',
      isConsolidated: this.#consolidated.checked,
    };
  }

  #showNamed(): void {
    const named = NAMED_NETWORKS.find(({ id }) => id === this.#named.value);
    if (this.#named.value === 'own') this.#show(this.#own);
    else if (named) this.#show(named.network);
    this.#onChange();
  }

  #changeNetwork(): void {
    this.#named.value = 'custom';
    this.#policed.element.hidden = this.#udp.value !== 'policed';
    this.#onChange();
  }

  #show({ udp, ...figures }: NetworkFigures): void {
    for (const [name, value] of Object.entries(figures)) {
      this.#sliders[name as keyof typeof figures].value = value;
    }
    this.#udp.value = typeof udp === 'number' ? 'policed' : udp;
    this.#policed.value = typeof udp === 'number' ? udp : POLICED_MBPS;
    this.#policed.element.hidden = typeof udp !== 'number';
  }

  #select(label: string, options: readonly [string, string][]): HTMLSelectElement {
    return el(
      'select',
      { 'aria-label': label },
      ...options.map(([value, text]) => el('option', { value }, text)),
    );
  }

  #field(select: HTMLSelectElement): HTMLElement {
    return el(
      'label',
      { class: 'hw-slider' },
      el('span', { class: 'hw-slider-label' }, select.getAttribute('aria-label')),
      select,
    );
  }
}
