import type { OriginUse, TransferPlan } from '@hopwise/contract';
import type { RoundTransfer } from '../rounds/round.ts';
import type { ByteBudget } from './byte-budget.ts';
import { hasCredentials, hostOf } from './origins.ts';
import type { OriginProfile } from './survey.ts';

interface RoundPlanContext {
  /** The plan's URLs, parsed. */
  urls: readonly URL[];
  profiles: ReadonlyMap<string, OriginProfile>;
  /** Indices of transfers that nothing else waits for. */
  leftOut: ReadonlySet<number>;
  byteBudget: ByteBudget;
}

/**
 * The transfers of a round, and the index of each in the plan.
 *
 * @param useOf how each origin is requested
 */
export function roundPlan(
  plan: TransferPlan,
  useOf: (origin: string) => OriginUse,
  { urls, profiles, leftOut, byteBudget }: RoundPlanContext,
): { transfers: RoundTransfer[]; indices: number[] } {
  const indices = plan.transfers.map((_, index) => index).filter((index) => !leftOut.has(index));
  const placeOf = new Map(indices.map((index, place) => [index, place]));
  const transfers = indices.map((index): RoundTransfer => {
    const { after, delayMs, urgency, incremental, accept, bytes } = plan.transfers[index]!;
    const url = urls[index]!;
    const profile = profiles.get(url.origin);
    const use = useOf(url.origin);
    const overH3 = { protocol: 'h3', connectTo: profile?.h3ConnectTo ?? '' } as const;
    const overTcp = { protocol: profile?.speaksH2 ? 'h2' : 'h1', connectTo: '' } as const;
    return {
      url: url.href,
      host: hostOf(url),
      after: after.map((former) => placeOf.get(former)!),
      delayMs,
      urgency,
      incremental,
      accept,
      ...(use === 'h3' ? overH3 : use === 'h3-once-offered' ? overTcp : { protocol: use, connectTo: '' }),
      onceOffered: use === 'h3-once-offered' ? overH3 : null,
      headersOnly: false,
      maxBytes: byteBudget.responseLimit(bytes),
      refused: hasCredentials(url) ? 'URLs with credentials are not fetched' : (profile?.unreachable ?? ''),
    };
  });
  return { transfers, indices };
}
