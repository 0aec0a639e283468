import { expect, it } from 'vitest';
import { CODE } from '../../src/curl/curl-constants.ts';
import { describesCode } from '../../src/curl/error-words.ts';

const RESET = 'Recv failure: Connection reset by peer';

it('does not report the words of an earlier connection for a certificate', () => {
  expect(describesCode(CODE.PEER_FAILED_VERIFICATION, RESET, false)).toBe(false);
  expect(describesCode(CODE.PEER_FAILED_VERIFICATION, 'certificate has expired', false)).toBe(true);
  expect(describesCode(CODE.HTTP2, RESET, true)).toBe(true);
  expect(describesCode(CODE.HTTP2, '', true)).toBe(false);
});

it('does not report an address that refused once another one has answered', () => {
  const refused = 'QUIC: connection to ::1 port 443 refused';
  expect(describesCode(CODE.HTTP3, refused, true)).toBe(false);
  // No address answered: that one refused is the reason, whichever way libcurl gave up.
  expect(describesCode(CODE.COULDNT_CONNECT, refused, false)).toBe(true);
  expect(describesCode(CODE.OPERATION_TIMEDOUT, refused, false)).toBe(true);
});
