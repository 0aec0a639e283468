import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAuthority, withoutBrackets } from '../../../src/pins/proxy/authority.ts';

describe('parseAuthority', () => {
  it.each([
    ['example.org:443', 'example.org', 443],
    ['a_b.example.org:65535', 'a_b.example.org', 65_535],
    ['example.org.:1', 'example.org.', 1],
    ['xn--bcher-kva.example:8443', 'xn--bcher-kva.example', 8443],
    ['192.0.2.7:443', '192.0.2.7', 443],
    ['[2001:db8::1]:443', '[2001:db8::1]', 443],
    ['[::ffff:c000:207]:443', '[::ffff:c000:207]', 443],
    [`${'a.'.repeat(126)}a:443`, `${'a.'.repeat(126)}a`, 443],
  ])('reads %s', (target, host, port) => {
    expect(parseAuthority(target)).toEqual({ host, port });
  });

  it.each([
    '',
    ':443',
    'example.org',
    'example.org:',
    'example.org:0',
    'example.org:00',
    'example.org:0443',
    'example.org:+443',
    'example.org:65536',
    'example.org:443 ',
    'example.org:443/',
    'example.org:443:443',
    'https://example.org:443',
    'user@example.org:443',
    'example.org/a:443',
    'example.org%00:443',
    'EXAMPLE.org:443',
    'bücher.example:443',
    'ex ample:443',
    '2001:db8::1:443',
    '[2001:db8::1]',
    '[2001:DB8::1]:443',
    '[2001:db8:0::1]:443',
    '[fe80::1%eth0]:443',
    '[::1:443',
    '[]:443',
    '[example.org]:443',
    '127.1:443',
    '0x7f000001:443',
    '0177.0.0.1:443',
    '2130706433:443',
    `${'a'.repeat(300)}:443`,
    '/:443',
    '*',
  ])('refuses %j', (target) => {
    expect(parseAuthority(target)).toBeNull();
  });

  it('takes nothing but what makes an origin of the same text', () => {
    const piece = fc.constantFrom(
      'a',
      'Z',
      '0',
      '1',
      '.',
      ':',
      '[',
      ']',
      '%',
      '@',
      '/',
      ' ',
      '\t',
      '-',
      '443',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const target = pieces.join('');
        const read = parseAuthority(target);
        if (!read) return;
        const origin = new URL(`https://${target}`);
        expect(origin.hostname).toBe(read.host);
        expect(Number(origin.port || 443)).toBe(read.port);
      }),
      { numRuns: 5_000 },
    );
  });
});

it('takes the brackets off an IPv6 address only', () => {
  expect(withoutBrackets('[::1]')).toBe('::1');
  expect(withoutBrackets('example.org')).toBe('example.org');
});
