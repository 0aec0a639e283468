/** What the fault tests need of a real browser with the extension. */

import type { PlannedRequest } from '../../../../native-host/test/faults/plan.ts';
import type { PageAnswers, PageRequest } from '../../../src/background/page-requests.ts';
import type { Fetched } from './fetched.ts';

/** A tab. */
export interface FaultPage {
  /** @returns the browser's name of the error, '' when the page loads; `GIVEN_UP` after `limitMs` */
  open(url: string, limitMs: number): Promise<string>;
  /** @param id id by which the server reports arrivals @param limitMs time after which the page gives up */
  fetch(request: PlannedRequest, id: string, limitMs: number): Promise<Fetched>;
  /** Issuer of the open page's certificate; null where the browser does not show it to tests. */
  issuer(): string | null;
}

export interface FaultBrowser {
  /** Errors that it shows for the faults of `shownCertificate`. */
  readonly certificateErrors: Partial<Record<string, RegExp>>;
  readonly pages: readonly FaultPage[];
  /** Sends a message to the worker. */
  ask<T extends PageRequest>(request: T): Promise<PageAnswers[T['type']]>;
  /** Whether it routes all of these origins to the helper. */
  steers(origins: readonly string[]): Promise<boolean>;
  close(): Promise<void>;
}
