import { connect } from 'node:tls';
import { TRUST_TRIAL_PORT } from '@hopwise/contract';
import { openTunnel } from '../../proxy/support/peers.ts';

/**
 * What the extension has its browser do for a host that is pinned to a protocol.
 *
 * @param token of the trial, from the helper
 * @param ca what the browser trusts.
 * @returns whether it was answered.
 */
export async function showTrust(
  proxyPort: number,
  host: string,
  token: string,
  ca: string | string[],
): Promise<boolean> {
  const tunnel = await openTunnel(proxyPort, `${host}:${TRUST_TRIAL_PORT}`);
  const socket = connect({ socket: tunnel, servername: host, ca });
  let answer = '';
  socket
    .on('error', () => {})
    // The tunnel stays half open otherwise.
    .on('end', () => socket.destroy())
    .on('data', (chunk) => {
      answer += chunk;
    })
    .write(`GET /${token} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await new Promise<void>((resolve) => socket.once('close', resolve));
  return answer.startsWith('HTTP/1.1 204 ');
}
