import { expect, it } from 'vitest';
import { tcpInfoReader } from '../../src/curl/tcp-info.ts';

it('knows nothing of what is no TCP socket, nor without a C library', () => {
  expect(tcpInfoReader()(0)).toBeNull();
  expect(tcpInfoReader(['libnone.so.0'])(0)).toBeNull();
});
