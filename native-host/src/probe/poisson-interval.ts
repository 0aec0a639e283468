import { TO_90TH } from '@hopwise/contract';

/**
 * The 80% interval of a Poisson mean, given the observed count: chi-square quantiles (Garwood, Biometrika 28, 1936) by the
 * Wilson-Hilferty cube (PNAS 17, 1931). For a count of 0 the lower end is 0.
 */
export function poissonInterval(events: number): [low: number, high: number] {
  return [events === 0 ? 0 : bound(events, -TO_90TH), bound(events + 1, TO_90TH)];
}

function bound(count: number, z: number): number {
  return count * (1 - 1 / (9 * count) + z / (3 * Math.sqrt(count))) ** 3;
}
