import type { ProductArm } from '../../src/product/arms.ts';
import type { StoredVisit } from '../../src/product/store.ts';

/** Visits of a page by each arm: `times` has one list of load times an arm. */
export function visitsOf(
  network: string,
  page: string,
  times: Partial<Record<ProductArm, number[]>>,
): StoredVisit[] {
  return Object.entries(times).flatMap(([arm, own]) =>
    own.map((pltMs, index) => ({
      browser: 'chromium' as const,
      network,
      page,
      visit: index + 1,
      arm: arm as ProductArm,
      usesCache: false,
      pltMs,
      bytes: 1e6,
      h3Share: 0,
      processorMs: { browser: pltMs / 4, pages: pltMs / 4, extension: 0, helper: 0 },
      disturbedBy: [],
    })),
  );
}
