import { createHash } from 'node:crypto';
import { connect } from 'node:tls';

/** Base64 SHA-256 of the public key of a server on this machine, for any certificate. */
export async function publicKeyHash(port: number): Promise<string> {
  const socket = connect({ port, rejectUnauthorized: false });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const key = socket.getPeerX509Certificate()!.publicKey.export({ type: 'spki', format: 'der' });
  socket.destroy();
  return createHash('sha256').update(key).digest('base64');
}
