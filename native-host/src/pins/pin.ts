import type { AddressSpace, PinKind } from '@hopwise/contract';

export interface Pin {
  origin: string;
  kind: PinKind;
  /** Milliseconds since 1970; null for a pin without expiry. */
  expiresAtMs: number | null;
  /** Whether it outlives the session. */
  persistent: boolean;
  /** Whether it may lead to addresses that are not public. */
  allowLocal?: boolean | undefined;
}

export interface NewPin {
  origin: string;
  kind: PinKind;
  minutes: number | null;
  persistent: boolean;
  allowLocal?: boolean | undefined;
}

/** The address space on whose behalf a pin's connections are made: any page may use a pin, so that only public addresses are reached. */
export function spaceOf({ allowLocal }: Pick<Pin, 'allowLocal'>): AddressSpace {
  return allowLocal ? 'loopback' : 'public';
}
