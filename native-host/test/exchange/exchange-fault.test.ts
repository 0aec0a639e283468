import { describe, expect, it } from 'vitest';
import { CODE } from '../../src/curl/curl-constants.ts';
import { errorCode } from '../../src/exchange/exchange-fault.ts';

const RESET = 'Recv failure: Connection reset by peer';
const asked = { protocol: 'h2', phase: 'sent' } as const;

describe('what went wrong', () => {
  it.each([
    ['a frame that breaks the rules', CODE.HTTP2, 'Invalid frame', 'protocol'],
    [
      'a header that is too large',
      CODE.TOO_LARGE,
      'A value or data field grew larger than allowed',
      'protocol',
    ],
    [
      'a transfer coding',
      CODE.BAD_CONTENT_ENCODING,
      'Unsolicited Transfer-Encoding (gzip) found',
      'protocol',
    ],
    ['a connection that has ended', CODE.HTTP2, '', 'reset'],
    ['one that was reset', CODE.HTTP2, RESET, 'reset'],
    [
      'a certificate, on the connection after one that was reset',
      CODE.PEER_FAILED_VERIFICATION,
      RESET,
      'certificate',
    ],
  ] as const)('is %s', (_, code, words, expected) => {
    expect(errorCode(code, words, asked)).toBe(expected);
  });

  it('before there is a connection is a failed handshake, whichever side ended it', () => {
    expect(errorCode(CODE.SSL_CONNECT_ERROR, RESET, { ...asked, phase: 'waiting' })).toBe('protocol');
  });
});
