import { createServer, type Server } from 'node:net';

/**
 * Holds the routing table for this process: a socket with an abstract name, of which the kernel has one in each network namespace,
 * as of the table, and which it removes with the process.
 *
 * @returns null where another process holds it
 */
export function lockTable(table: number): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    );
    server.listen(`\0hopwise-server-${table}`, () => resolve(server));
  });
}
