import type { PinKind } from '@hopwise/contract';

export interface Pin {
  origin: string;
  kind: PinKind;
  /** Milliseconds since 1970; null where it does not end by itself. */
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
