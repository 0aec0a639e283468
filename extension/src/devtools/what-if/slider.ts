import { builder } from '../../ui/dom.ts';

const el = builder();

/** Steps of a slider: fine enough that a pixel of the usual width is one. */
const STEPS = 200;

interface SliderOptions {
  label: string;
  /** Range of the values; positions are logarithmic, as networks differ by factors. */
  min: number;
  max: number;
  /** Whether the lowest position stands for 0. */
  startsAtZero?: boolean;
  format: (value: number) => string;
  onInput: () => void;
}

/** A labelled slider over a range of values of different magnitudes, with its value in words. */
export class Slider {
  readonly element: HTMLElement;
  readonly #input: HTMLInputElement;
  readonly #output = el('output', {});
  readonly #options: SliderOptions;
  #value: number;

  constructor(options: SliderOptions) {
    this.#options = options;
    this.#value = options.min;
    this.#input = el('input', { type: 'range', min: '0', max: String(STEPS), step: '1' });
    this.#input.addEventListener('input', () => {
      this.#value = this.#valueAt(this.#input.valueAsNumber);
      this.#showValue();
      options.onInput();
    });
    this.element = el(
      'label',
      { class: 'hw-slider' },
      el('span', { class: 'hw-slider-label' }, options.label),
      this.#input,
      this.#output,
    );
    this.#showValue();
  }

  get value(): number {
    return this.#value;
  }

  /** Shows a value; one outside the range stays exact, with the handle at the end. */
  set value(value: number) {
    this.#value = value;
    this.#input.value = String(this.#positionOf(value));
    this.#showValue();
  }

  #valueAt(position: number): number {
    const { min, max, startsAtZero = false } = this.#options;
    if (startsAtZero && position === 0) return 0;
    return Number((min * (max / min) ** (position / STEPS)).toPrecision(2));
  }

  #positionOf(value: number): number {
    const { min, max, startsAtZero = false } = this.#options;
    if (value <= min) return startsAtZero && value > 0 ? 1 : 0;
    return Math.min(STEPS, Math.round((STEPS * Math.log(value / min)) / Math.log(max / min)));
  }

  #showValue(): void {
    const text = this.#options.format(this.#value);
    this.#output.textContent = text;
    this.#input.setAttribute('aria-valuetext', text);
  }
}
