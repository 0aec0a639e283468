import { type AddressSpace, MINUTE_MS, type PinState } from '@hopwise/contract';

/** A pin as it is stored: `persistent` ones outlive the session. */
export type Pin = Pick<PinState, 'origin' | 'kind' | 'expiresAtMs' | 'persistent' | 'allowLocal'>;

export type NewPin = Omit<Pin, 'expiresAtMs'> & { minutes: number | null };

/** The pin that begins now. */
export function createPin({ minutes, ...pin }: NewPin): Pin {
  return { ...pin, expiresAtMs: minutes === null ? null : Date.now() + minutes * MINUTE_MS };
}

/** The address space on whose behalf a pin's connections are made: any page may use a pin, so that only public addresses are reached. */
export function spaceOf({ allowLocal }: Pick<Pin, 'allowLocal'>): AddressSpace {
  return allowLocal ? 'loopback' : 'public';
}
