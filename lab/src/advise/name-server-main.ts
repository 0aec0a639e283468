/**
 * The lab's name server: `name-server-main ADDRESSES`, a JSON object of IPv4 addresses by host. Says `ready` on standard output and
 * answers on 127.0.0.1:53 until standard input ends.
 */
import { createSocket } from 'node:dgram';
import { answerTo } from './name-server.ts';

const addresses = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>;
const socket = createSocket('udp4');
socket.on('message', (query, { port, address }) => {
  const answer = answerTo(query, addresses);
  if (answer !== null) socket.send(answer, port, address);
});
socket.bind(53, '127.0.0.1', () => process.stdout.write('ready\n'));
process.stdin.resume().on('end', () => process.exit());
