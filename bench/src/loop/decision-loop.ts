import { Random } from '@hopwise/lab/random';
import { type Arm, type Chosen, Explorer, type Question } from '@hopwise/model';
import { type LoadTime, PROTOCOLS, predict, type Recording } from '@hopwise/pageload-emulator';

/** The browser's own choice, and each protocol for all origins. */
export const ARMS = ['natural', ...PROTOCOLS] as const;
export type ArmName = (typeof ARMS)[number];

/** Protocols are not switched for less, as in `decide`. */
const MIN_GAIN = 0.05;

/** A load as it was chosen: `first` where nothing is predicted for the network yet, so that the browser's own choice is recorded. */
export interface LoopChoice {
  arm: ArmName;
  reason: Chosen['reason'] | 'first';
}

/**
 * The closed loop on one page: the first load on a network is the browser's own and is recorded, hopwise predicts from it, and the explorer
 * chooses from then on.
 */
export class DecisionLoop {
  readonly #explorer = new Explorer();
  readonly #seed: number;
  /** Of the first load. */
  #scaleMs = 0;
  #key = '';
  #arms: Arm[] | null = null;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** @param step number of the load, from 0 */
  choose(key: string, step: number): LoopChoice {
    if (key !== this.#key) {
      // Another network: what is known of it may be outdated.
      this.#explorer.forget(key);
      this.#key = key;
      this.#arms = null;
    }
    if (this.#arms === null) return { arm: 'natural', reason: 'first' };
    const { arm, reason } = this.#explorer.choose(this.#question(this.#arms, step));
    return { arm: arm as ArmName, reason };
  }

  /**
   * @param recording of a load of the browser's own choice
   * @returns what is predicted of each arm, where this was the network's first load
   */
  predictArms(recording: Recording): Arm[] {
    const { decision } = predict(recording);
    const times: [ArmName, LoadTime | undefined][] = [
      ['natural', decision.baseline],
      ...PROTOCOLS.map(
        (protocol) => [protocol, decision.protocols[protocol]] as [ArmName, LoadTime | undefined],
      ),
    ];
    return times.flatMap(([name, time]) => (time === undefined ? [] : [{ name, predicted: rangeOf(time) }]));
  }

  /**
   * Learns from a load.
   *
   * @param predicted from `predictArms` after a network's first load
   */
  note(choice: LoopChoice, step: number, ms: number, predicted: Arm[] | null): void {
    if (predicted !== null) {
      this.#arms = predicted;
      this.#scaleMs ||= ms;
    }
    if (this.#arms === null) return;
    const reason = choice.reason === 'first' ? 'best' : choice.reason;
    this.#explorer.note(this.#question(this.#arms, step), { arm: choice.arm, reason }, ms);
  }

  #question(arms: Arm[], step: number): Question {
    // Of its own for each load, so that a run that is taken up again goes on as it would have.
    const random = new Random(this.#seed * 100_003 + step);
    return {
      clusters: [this.#key],
      scaleMs: this.#scaleMs,
      arms,
      objective: 'median',
      minGain: MIN_GAIN,
      random: () => random.fraction(),
    };
  }
}

const rangeOf = ({ low, pltMs, high }: LoadTime): NonNullable<Arm['predicted']> => ({ low, pltMs, high });
