/** The native-messaging port to the helper: its interface and its errors. */
/** The parts of `chrome.runtime.Port` in use. */
export interface NativePort {
  postMessage(message: unknown): void;
  disconnect(): void;
  onMessage: { addListener(listener: (message: unknown) => void): void };
  onDisconnect: { addListener(listener: (port?: object) => void): void };
}

/** `code` is the helper's own error code, or `no-helper`, `engine-died`, `protocol`, `timeout`, `version` or `cancelled` from this side. */
export class HelperError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = 'HelperError';
    this.code = code;
  }
}

export function createProtocolError(what: string): HelperError {
  return new HelperError('protocol', `The helper sent ${what}: update or reinstall it.`);
}

/** The helper's process runs, but hangs. */
export function createSilenceError(): HelperError {
  return new HelperError('timeout', 'The helper stopped responding; pages load without it.');
}

/** Matches the messages of Chromium and of Firefox for a host that is not registered for this extension. */
export function isMissingHost(reason: string): boolean {
  return /host not found|host is forbidden|No such native application/i.test(reason);
}

/** Chromium reports the reason in `runtime.lastError`, Firefox on the port. */
export function explainDisconnect(port?: { error?: { message: string } | null }): HelperError {
  const reason = chrome.runtime.lastError?.message ?? port?.error?.message ?? '';
  if (isMissingHost(reason)) {
    return new HelperError('no-helper', NO_HELPER);
  }
  return new HelperError(
    'engine-died',
    `The helper stopped${reason ? `: ${reason}` : ' without giving a reason.'}`,
  );
}

export const NO_HELPER =
  'The helper is not installed; verifications and pins need it. “First steps” in the options shows how to install it.';
