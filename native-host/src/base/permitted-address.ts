/** Which addresses the helper connects to. */
import { type AddressSpace, addressSpace, mayReach } from '@hopwise/contract/address-space';

/** No address of the origin may be connected to. */
export class AddressRefusedError extends Error {}

/**
 * Why no connection may be made to an address, in one line; '' where it may.
 *
 * @param from address space on whose behalf it would be made. A browser checks the same (Local Network Access, section 3.2), but not
 * for connections through a proxy.
 */
export function explainRefusal(address: string, from: AddressSpace): string {
  const space = addressSpace(address);
  return mayReach(from, space) ? '' : `${address} is a ${space} address, which a ${from} page may not reach`;
}
