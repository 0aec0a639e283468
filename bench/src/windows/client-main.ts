/** Runs in the client's namespace: makes each request that it reads from standard input over a new connection, from the address that is named. */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

interface Request {
  id: number;
  from: string;
  to: string;
  path: string;
}

/** Milliseconds from the request's last byte until the response's last one and, at the end, until the connection is closed. */
function makeRequest({ from, to, path }: Request): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: to, port: 80, localAddress: from });
    let sentAt = 0;
    let receivedAt = 0;
    let missing = Number.POSITIVE_INFINITY;
    socket.on('connect', () => {
      sentAt = performance.now();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: site.test\r\n\r\n`);
    });
    socket.on('data', (bytes) => {
      // nginx sends the head in its first packet.
      if (receivedAt === 0) missing = lengthOf(bytes);
      receivedAt = performance.now();
      missing -= bytes.length;
      if (missing === 0) socket.end();
    });
    socket.on('error', reject);
    socket.on('close', () =>
      missing === 0 ? resolve(receivedAt - sentAt) : reject(new Error(`${missing} bytes are missing`)),
    );
  });
}

/** Bytes of a response with this head. */
function lengthOf(bytes: Buffer): number {
  const head = bytes.indexOf('\r\n\r\n') + 4;
  const [, length] = /^content-length: (\d+)/im.exec(bytes.toString('latin1', 0, head)) ?? [];
  return head + Number(length);
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request: Request = JSON.parse(line);
  const answer = (content: object) =>
    process.stdout.write(`${JSON.stringify({ id: request.id, ...content })}\n`);
  makeRequest(request).then(
    (ms) => answer({ ms }),
    (error: Error) => answer({ error: error.message }),
  );
});
