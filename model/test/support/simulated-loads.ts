import { createRandom, normal } from '../../../pageload-emulator/src/util/random.ts';

/** Load time of each arm on a network, milliseconds, without scatter. */
export type Network = Record<string, number>;

/** Standard deviation of the logarithm of load times on one network, as measured in the lab (`docs/ground-truth.md`): 7 to 11%. */
const DEVIATION = 0.09;
/** Some loads take much longer: something else used the machine or the link. */
const DISTURBED = 0.03;
const DISTURBED_FACTOR = 1.6;

/** Load times with scatter; the same for one seed. */
export class SimulatedLoads {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = createRandom(seed);
  }

  load(network: Network, arm: string): number {
    const disturbed = this.random() < DISTURBED ? DISTURBED_FACTOR : 1;
    return network[arm]! * Math.exp(DEVIATION * normal(this.random)) * disturbed;
  }
}
