import * as z from 'zod/mini';
import type { NamedNetwork } from '../network/network-list.ts';
import { InputError } from '../util/input-error.ts';
import { checkShape, parseJson } from '../util/parse-json.ts';

/** Limits of one page on one network; absent where there is none. */
export interface Limits {
  /** Load time (PLT) as the browser loads the page by itself, median, milliseconds, at most. */
  loadTimeMs?: number | undefined;
  /** First Contentful Paint of the same loads, median, milliseconds, at most. */
  firstPaintMs?: number | undefined;
  /** Largest Contentful Paint of the same loads, median, milliseconds, at most. */
  largestPaintMs?: number | undefined;
  /** Share of the origins that the browser loads over their best protocol, 0 to 1, at least. */
  originsOnBest?: number | undefined;
  /** Expected gain of the best change of protocols, as a share of the load time, 0 to 1, at most. */
  gainLeft?: number | undefined;
}

/** Limits for every network, and those that replace them on single networks. */
export interface Budget extends Limits {
  networks?: Record<string, Limits> | undefined;
}

const MAX_MS = 600_000;
const within = (max: number, expected: string) =>
  z.optional(z.number(expected).check(z.refine((value) => value >= 0 && value <= max, expected)));
const milliseconds = within(MAX_MS, `milliseconds from 0 to ${MAX_MS}`);
const share = within(1, 'a share from 0 to 1');
const limits = {
  loadTimeMs: milliseconds,
  firstPaintMs: milliseconds,
  largestPaintMs: milliseconds,
  originsOnBest: share,
  gainLeft: share,
};
const LIMITS = 'loadTimeMs, firstPaintMs, largestPaintMs, originsOnBest and gainLeft';
const limitsSchema = z.strictObject(limits, `limits of ${LIMITS}`);
const budgetSchema = z.strictObject(
  {
    ...limits,
    networks: z.optional(z.record(z.string(), limitsSchema, 'an object of limits by network')),
  },
  `limits of ${LIMITS}, and networks for those of single networks`,
);

/**
 * Reads a budget: `{"loadTimeMs": 3000, "gainLeft": 0.1, "networks": {"3g": {"loadTimeMs": 9000}}}`.
 *
 * @param networks that the budget is for
 * @throws InputError naming the entry and what was expected
 */
export function parseBudget(text: string, networks: readonly NamedNetwork[]): Budget {
  const budget: Budget = parseJson(text, budgetSchema, 'a budget');
  const names = networks.map(({ name }) => name);
  const unknown = Object.keys(budget.networks ?? {}).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new InputError(`networks.${unknown}: expected one of the networks ${names.join(', ')}`);
  }
  if (names.every((name) => isEmpty(limitsOn(budget, name)))) throw noLimit();
  return budget;
}

/**
 * Checks limits that a program gives.
 *
 * @throws InputError naming the entry and what was expected
 */
export function checkLimits(given: unknown): Limits {
  const limits = checkShape(given, limitsSchema);
  if (isEmpty(limits)) throw noLimit();
  return limits;
}

const isEmpty = (limits: Limits): boolean => Object.values(limits).every((limit) => limit === undefined);
const noLimit = () => new InputError(`top level: expected at least one limit of ${LIMITS}, got none`);

/** The limits on one network. */
export function limitsOn({ networks, ...common }: Budget, network: string): Limits {
  return { ...common, ...(networks !== undefined && Object.hasOwn(networks, network) && networks[network]) };
}
