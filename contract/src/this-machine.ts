/**
 * Whether browsers take a host for this machine itself, or one that it shares a cable with, and so ask it without a proxy:
 * - Chromium whatever a PAC script says (net/docs/proxy.md, "Implicit bypass rules"),
 * - Firefox the loopback ones, unless `network.proxy.allow_hijacking_localhost` is set.
 *
 * @param host as `URL.hostname` has it.
 */
export function isAskedWithoutProxy(host: string): boolean {
  return NAMES.test(host) || IPV4.test(host) || IPV6.test(host);
}

/** RFC 6761, section 6.3, and what hosts files have beside it. */
const NAMES = /^(?:(?:.+\.)?localhost|localhost6(?:\.localdomain6)?)\.?$/;
/** RFC 1122, section 3.2.1.3, and RFC 3927. */
const IPV4 = /^(?:127\.\d+|169\.254)\.\d+\.\d+$/;
/** RFC 4291, sections 2.5.3 and 2.5.6. */
const IPV6 = /^\[(?:::1|fe[89ab][0-9a-f]:.*)\]$/;
