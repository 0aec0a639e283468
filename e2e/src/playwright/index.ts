/**
 * Fixtures for Playwright tests that replay recorded pages in the lab:
 *
 *     import { expect, test } from '@hopwise/e2e/playwright';
 *     test.use({ replay: { page: 'shop', network: 'lte-poor', protocol: 'h3' } });
 */

export { type Lab, labObstacle } from '@hopwise/lab/client/lab';
export type { Assignment, Limits, Prediction, Protocol, Recording } from '@hopwise/pageload-emulator';
export { PROTOCOLS } from '@hopwise/pageload-emulator';
export { ReplayError } from './errors.ts';
export { linkTest, type ReplayFixtures, test } from './fixtures.ts';
export type { LinkOptions, ServerLink } from './link.ts';
export { predictionOf, type ReplayLoad } from './load.ts';
export { expect, type LoadsByProtocol } from './matchers.ts';
export type { LoadChanges, Replay, ReplayNetwork, ReplayOptions, ReplayProtocol } from './options.ts';
