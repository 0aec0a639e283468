import type { PinKind } from '@hopwise/contract';

export interface Pin {
  origin: string;
  kind: PinKind;
  /** Milliseconds since 1970; null for a pin without expiry. */
  expiresAtMs: number | null;
  /** Whether it outlives the session. */
  persistent: boolean;
}

export interface NewPin {
  origin: string;
  kind: PinKind;
  minutes: number | null;
  persistent: boolean;
}
