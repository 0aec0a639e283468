/**
 * An origin alone in its process: prints its port, and ends with its input. A request is `REQUEST_BYTES` long and begins with the
 * length of the response that it asks for, a double.
 */
import { REQUEST_BYTES } from './origin-request.ts';
import { Origin } from './peers.ts';

const BODY = Buffer.alloc(1024 * 1024, 'hopwise');

const origin = await Origin.listen((socket) => {
  let request: Buffer = Buffer.alloc(0);
  let owed = 0;
  const answer = (): void => {
    while (owed > 0) {
      const piece = BODY.subarray(0, Math.min(owed, BODY.length));
      owed -= piece.length;
      if (!socket.write(piece)) break;
    }
  };
  socket
    .on('drain', answer)
    .on('end', () => socket.end())
    .on('data', (chunk: Buffer) => {
      request = request.length > 0 ? Buffer.concat([request, chunk]) : chunk;
      while (request.length >= REQUEST_BYTES) {
        owed += request.readDoubleLE(0);
        request = request.subarray(REQUEST_BYTES);
      }
      answer();
    });
});
process.stdout.write(`${JSON.stringify({ port: origin.port })}\n`);
process.stdin.resume().once('end', () => origin.close());
