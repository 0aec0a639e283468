import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** A port that the system has just assigned, and which is free. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const answers = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return answers;
}
