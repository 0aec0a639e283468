/**
 * Whether an address is the machine's own or of a private network (RFC 1918, RFC 4193, link-local addresses): the way there is
 * not the way to the rest of the web.
 */
export function isLocalAddress(ip: string): boolean {
  const address = ip
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/^::ffff:(?=\d+\.)/, '');
  const [a = -1, b = -1] = address.split('.').map(Number);
  if (!address.includes(':')) {
    return (
      a === 127 ||
      a === 10 ||
      (a === 172 && b >= 16 && b < 32) ||
      (a === 192 && b === 168) ||
      (a === 169 && b === 254)
    );
  }
  return address === '::1' || /^f[cd]/.test(address) || /^fe[89ab]/.test(address);
}
