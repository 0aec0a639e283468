import { isLocalAddress } from './address-space.ts';

/**
 * Whether a host is local by its name alone: names of this machine, and addresses that are not public.
 *
 * @param host as `URL.hostname` has it.
 */
export function isLocalHost(host: string): boolean {
  return isAskedWithoutProxy(host) || isLocalAddress(host);
}

/**
 * Whether browsers connect to a host without a proxy because it is this machine itself or link-local:
 * - Chromium always, whatever a PAC script returns (net/docs/proxy.md, "Implicit bypass rules"),
 * - Firefox for loopback hosts, unless `network.proxy.allow_hijacking_localhost` is set.
 *
 * @param host as `URL.hostname` has it.
 */
export function isAskedWithoutProxy(host: string): boolean {
  return NAMES.test(host) || IPV4.test(host) || IPV6.test(host);
}

/** RFC 6761, section 6.3, and further names of common hosts files. */
const NAMES = /^(?:(?:.+\.)?localhost|localhost6(?:\.localdomain6)?)\.?$/;
/** RFC 1122, section 3.2.1.3, and RFC 3927. */
const IPV4 = /^(?:127\.\d+|169\.254)\.\d+\.\d+$/;
/** RFC 4291, sections 2.5.3 and 2.5.6. */
const IPV6 = /^\[(?:::1|fe[89ab][0-9a-f]:.*)\]$/;
