import { duplexPair } from 'node:stream';
import {
  type ConnectionOptions,
  connect,
  type PeerCertificate,
  type SecureContext,
  TLSSocket,
} from 'node:tls';

/**
 * A TLS handshake in memory with a server of this context.
 *
 * @returns the server's certificate.
 * @throws what the client finds wrong with it.
 */
export async function handshake(
  secureContext: SecureContext,
  servername: string,
  options: ConnectionOptions,
): Promise<PeerCertificate> {
  const [clientSide, serverSide] = duplexPair();
  const server = new TLSSocket(serverSide, { isServer: true, secureContext });
  server.on('error', () => {});
  const client = connect({ socket: clientSide, servername, ...options });
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('secureConnect', resolve);
      client.once('error', reject);
    });
    return client.getPeerCertificate();
  } finally {
    client.destroy();
    server.destroy();
  }
}
