/** The native-messaging manifest: which extension may start which program. */
import { HOST_NAME } from '@hopwise/contract';
import * as z from 'zod/mini';
import { UsageError } from '../base/errors.ts';
import type { Browser } from './browsers.ts';

/** Ids of the extension that may use the host. */
export interface ExtensionIds {
  chromium: string;
  firefox: string;
}

const common = {
  name: z.literal(HOST_NAME),
  description: z.string(),
  path: z.string(),
  type: z.literal('stdio'),
};

const manifestSchema = z.union([
  z.object({ ...common, allowed_origins: z.array(z.string()) }),
  z.object({ ...common, allowed_extensions: z.array(z.string()) }),
]);

export type Manifest = z.infer<typeof manifestSchema>;

/** 32 letters a to p. */
const CHROMIUM_ID = /^[a-p]{32}$/;
/** `name@domain` or a UUID in braces. */
const FIREFOX_ID = /^(\{[0-9a-f-]{36}\}|[\w.-]*@[\w.-]+)$/i;

/** @throws UsageError for an id of the wrong form. */
export function checkIds(ids: ExtensionIds): void {
  if (!CHROMIUM_ID.test(ids.chromium)) {
    throw new UsageError(`--extension-id: expected 32 letters a to p, got "${ids.chromium}"`);
  }
  if (!FIREFOX_ID.test(ids.firefox)) {
    throw new UsageError(`--firefox-extension-id: expected name@domain, got "${ids.firefox}"`);
  }
}

export function manifest(browser: Browser, launcher: string, ids: ExtensionIds): Manifest {
  const base = {
    name: HOST_NAME as typeof HOST_NAME,
    description: 'hopwise: real transfers under every HTTP version',
    path: launcher,
    type: 'stdio' as const,
  };
  return browser.id === 'firefox'
    ? { ...base, allowed_extensions: [ids.firefox] }
    : { ...base, allowed_origins: [`chrome-extension://${ids.chromium}/`] };
}

/**
 * @returns the manifest, or a description of what is wrong with it.
 */
export function parseManifest(text: string): Manifest | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  const parsed = manifestSchema.safeParse(value);
  return parsed.success ? parsed.data : 'it is not a manifest of this host';
}
