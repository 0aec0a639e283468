import { expect, it } from 'vitest';
import { LOG_FORMAT, parseLogLine } from '../../src/log/access-log.ts';

const LINE = {
  msec: '1795735141.751',
  remote_addr: '203.0.113.7',
  remote_port: '40227',
  connection_time: '0.048',
  bytes_sent: '46336',
};

it('reads what nginx writes', () => {
  expect(parseLogLine(JSON.stringify(LINE))).toEqual({
    address: '203.0.113.7',
    port: 40227,
    connectedMs: 1795735141703,
    bytes: 46336,
  });
});

it('asks nginx for these variables and for nothing of what was requested', () => {
  for (const name of Object.keys(LINE)) expect(LOG_FORMAT).toContain(`"${name}":"$${name}"`);
  expect(LOG_FORMAT).not.toMatch(/\$(request|uri|args|http_|cookie)\b/);
});

it.each([
  '',
  'null',
  '[]',
  '{"msec":',
  '203.0.113.7 - - [26/Nov/2026] "GET / HTTP/1.1" 200 612',
  ...['msec', 'remote_addr', 'remote_port', 'connection_time', 'bytes_sent'].map((name) =>
    JSON.stringify({ ...LINE, [name]: undefined }),
  ),
  ...['-1', '1e400', 'NaN', '0x10', '123456', {}, null, true].map((value) =>
    JSON.stringify({ ...LINE, remote_port: value }),
  ),
  JSON.stringify({ ...LINE, remote_addr: 'a'.repeat(1000) }),
  `{"__proto__":{"msec":"1"},"msec":"1"}`,
])('takes %s for none of its lines', (line) => {
  expect(parseLogLine(line)).toBeNull();
});
