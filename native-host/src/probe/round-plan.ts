import type { Protocol, TransferPlan } from '@hopwise/contract';
import type { RoundTransfer } from '../rounds/round.ts';
import type { ByteBudget } from './byte-budget.ts';
import { hasCredentials, hostOf } from './origins.ts';
import type { OriginProfile } from './survey.ts';

export interface RoundPlanContext {
  /** The plan's URLs, parsed. */
  urls: readonly URL[];
  profiles: ReadonlyMap<string, OriginProfile>;
  /** Indices of transfers that nothing else waits for. */
  leftOut: ReadonlySet<number>;
  byteBudget: ByteBudget;
}

/** The transfers of a round that prefers `protocol`, and the index of each in the plan. */
export function roundPlan(
  plan: TransferPlan,
  protocol: Protocol,
  { urls, profiles, leftOut, byteBudget }: RoundPlanContext,
): { transfers: RoundTransfer[]; indices: number[] } {
  const indices = plan.transfers.map((_, index) => index).filter((index) => !leftOut.has(index));
  const placeOf = new Map(indices.map((index, place) => [index, place]));
  const transfers = indices.map((index): RoundTransfer => {
    const { after, delayMs, urgency, incremental, accept, bytes } = plan.transfers[index]!;
    const url = urls[index]!;
    const profile = profiles.get(url.origin);
    const used = profile ? bestOf(profile, protocol) : protocol;
    return {
      url: url.href,
      host: hostOf(url),
      protocol: used,
      after: after.map((former) => placeOf.get(former)!),
      delayMs,
      urgency,
      incremental,
      accept,
      connectTo: used === 'h3' ? (profile?.h3ConnectTo ?? '') : '',
      headersOnly: false,
      maxBytes: byteBudget.responseLimit(bytes),
      refused: hasCredentials(url) ? 'URLs with credentials are not fetched' : (profile?.unreachable ?? ''),
    };
  });
  return { transfers, indices };
}

/** The protocol that a browser which prefers `protocol` would use with this origin. */
function bestOf(profile: OriginProfile, protocol: Protocol): Protocol {
  if (protocol === 'h3' && profile.speaksH3 === true) return 'h3';
  return protocol !== 'h1' && profile.speaksH2 ? 'h2' : 'h1';
}
