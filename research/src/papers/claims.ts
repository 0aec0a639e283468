import { blitzClaims } from './blitz/claims.ts';
import type { Claim } from './claim.ts';
import { econClaims } from './econ/claims.ts';
import { vtlClaims } from './vtl/claims.ts';
import { wiseClaims } from './wise/claims.ts';
import { wisetransClaims } from './wisetrans/claims.ts';

/** All claims. Those of one call share what they measure. */
export const allClaims = (): Claim[] => [
  ...econClaims(),
  ...wisetransClaims(),
  ...wiseClaims(),
  ...vtlClaims(),
  ...blitzClaims(),
];
