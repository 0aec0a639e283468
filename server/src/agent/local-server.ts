import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Agent } from './agent.ts';

const HERE = 'http://localhost';

/**
 * Serves metrics and p(cwnd) on this machine alone: `/metrics`, `/pcwnd` as JSON and `/pcwnd-header` as a header for nginx's `auth_request`.
 * nginx says in `Hopwise-Client` whose curve is meant. @throws of the port
 */
export function serveLocally(agent: Agent, port: number): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => answer(agent, request, response));
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, '127.0.0.1', () => resolve({ server, port: (server.address() as AddressInfo).port }));
  });
}

function answer(
  agent: Agent,
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const send = (status: number, content: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
  const fail = (status: number, error: string) => send(status, { error });
  response.setHeader('cache-control', 'no-store');
  if (method !== 'GET' && method !== 'HEAD') return void fail(405, 'expected GET');
  // A page's name for this machine must not open it to that page.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? ''))
    return void fail(403, 'expected a request from this machine');
  const known = 'expected /metrics or /pcwnd';
  // A client may ask for `//`, which is no URL.
  if (!URL.canParse(url, HERE)) return void fail(404, known);
  const { pathname, searchParams } = new URL(url, HERE);
  if (pathname === '/metrics') {
    const type = { 'content-type': 'text/plain; version=0.0.4' };
    return void response.writeHead(200, type).end(agent.counters.print(agent.routes));
  }
  if (pathname !== '/pcwnd' && pathname !== '/pcwnd-header') return void fail(404, known);
  const connections = searchParams.get('connections');
  if (connections !== null && !/^[1-9]\d{0,3}$/.test(connections))
    return void fail(400, 'connections: expected a whole number from 1 to 9999');
  const client = agent.names.find(String(headers['hopwise-client']));
  if (client === null) return void fail(400, 'Hopwise-Client: expected the address of a client');
  const npc = connections === null ? null : Math.min(6, Number(connections));
  const windows = agent.curves.read(client, npc, Date.now());
  if (pathname === '/pcwnd-header') {
    // Each window with its rounds and loss events, as a list of items with parameters (RFC 9651); 204 lets nginx go on.
    const items = windows.map(({ cwnd, rounds, lossEvents }) => `${cwnd};r=${rounds};l=${lossEvents}`);
    response.writeHead(204, { pcwnd: items.join(', ') }).end();
  } else if (windows.length === 0) fail(404, 'nothing was counted in this cluster in the last 100 s');
  else send(200, { format: 'hopwise-pcwnd', version: 1, windows });
}
