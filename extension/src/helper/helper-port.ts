/** The native-messaging port to the helper: its interface and its errors. */
import { ShownError } from '../language/shown-error.ts';
import { t } from '../language/translate.ts';

/** The parts of `chrome.runtime.Port` in use. */
export interface NativePort {
  postMessage(message: unknown): void;
  disconnect(): void;
  onMessage: { addListener(listener: (message: unknown) => void): void };
  onDisconnect: { addListener(listener: (port?: object) => void): void };
}

/** `code` is the helper's own error code, or `no-helper`, `engine-died`, `protocol`, `timeout`, `version` or `cancelled` from this side. */
export class HelperError extends ShownError {
  readonly code: string;

  /** @param write the message in the language that is loaded */
  constructor(code: string, write: () => string) {
    super(write);
    this.name = 'HelperError';
    this.code = code;
  }
}

/** @param write what the helper sent, in the language that is loaded */
export function createProtocolError(write: () => string): HelperError {
  return new HelperError('protocol', () => t('helperSent', { what: write() }));
}

/** The helper's process runs, but hangs. */
export function createSilenceError(): HelperError {
  return new HelperError('timeout', () => t('helperHangs'));
}

/** Matches the messages of Chromium and of Firefox for a host that is not registered for this extension. */
export function isMissingHost(reason: string): boolean {
  return /host not found|host is forbidden|No such native application/i.test(reason);
}

/** Chromium reports the reason in `runtime.lastError`, Firefox on the port. */
export function explainDisconnect(port?: { error?: { message: string } | null }): HelperError {
  const reason = chrome.runtime.lastError?.message ?? port?.error?.message ?? '';
  if (isMissingHost(reason)) return new HelperError('no-helper', () => t('helperNotInstalled'));
  return new HelperError('engine-died', () =>
    reason ? t('helperEnded', { reason }) : t('helperEndedSilently'),
  );
}
