/** Questions to the helper, which start it and end it again unless one runs. */
import type { HelperCheck } from '@hopwise/contract';
import { t } from '../language/translate.ts';
import { type Hello, type HelperAnswer, HelperConnection, type HelperRequest } from './helper-connection.ts';
import { HelperError } from './helper-port.ts';

const DOCTOR_LIMIT_MS = 120_000;
/** A load is stored only after the answer. */
const NETWORK_LIMIT_MS = 3_000;

/**
 * Asks the helper what it can do.
 *
 * @throws HelperError when the helper is not installed, does not answer, or is of another version
 */
export function greetHelper(): Promise<Hello> {
  return withHelper((helper) => helper.greet());
}

/**
 * Has the helper check everything that it needs.
 *
 * @throws HelperError when the helper is not installed, does not answer, or is too old for it
 */
export async function examineHelper(): Promise<HelperCheck[]> {
  return (await ask({ type: 'doctor' }, 'doctor', DOCTOR_LIMIT_MS)).checks;
}

/**
 * Asks the helper which network this is.
 *
 * @param running a helper to ask instead of starting one; one that is late with this answer runs on
 * @returns null when the network is not recognised
 * @throws HelperError when the helper is not installed, does not answer, or is too old for it
 */
export async function askForNetworkKey(running: HelperConnection | null): Promise<string | null> {
  if (running === null) return (await ask({ type: 'network' }, 'network', NETWORK_LIMIT_MS)).key;
  const late = new Promise<never>((_, reject) => {
    setTimeout(reject, NETWORK_LIMIT_MS, new HelperError('timeout', () => t('helperNoNetwork')));
  });
  const answer = running.request({ type: 'network' }, null, (message) =>
    message.type === 'network' ? message : undefined,
  );
  return (await Promise.race([answer, late])).key;
}

function ask<T extends HelperAnswer['type']>(request: HelperRequest, type: T, limitMs: number) {
  type Answer = Extract<HelperAnswer, { type: T }>;
  return withHelper((helper) =>
    helper.request(request, limitMs, (message) => (message.type === type ? (message as Answer) : undefined)),
  );
}

async function withHelper<T>(use: (helper: HelperConnection) => Promise<T>): Promise<T> {
  const helper = new HelperConnection();
  try {
    return await use(helper);
  } finally {
    helper.close();
  }
}
