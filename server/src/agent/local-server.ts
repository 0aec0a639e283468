import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WindowCount } from '@hopwise/pageload-emulator/econ';
import type { Agent } from './agent.ts';

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

const JSON_TYPE = { 'content-type': 'application/json', 'cache-control': 'no-store' };

/**
 * Serves metrics and p(cwnd) on this machine alone: `/metrics`, `/pcwnd` as JSON and `/pcwnd-header` as a header for nginx's `auth_request`.
 * nginx says in `Hopwise-Client` whose curve is meant. @throws of the port
 */
export function serveLocally(agent: Agent, port: number): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    const { status, headers, body } = answer(agent, request);
    response.writeHead(status, headers).end(body);
  });
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(port, '127.0.0.1', () => resolve({ server, port: (server.address() as AddressInfo).port }));
  });
}

function answer(agent: Agent, { method, url = '', headers }: IncomingMessage): Answer {
  if (method !== 'GET' && method !== 'HEAD') return fail(405, 'expected GET');
  // A page's name for this machine must not open it to that page.
  if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.host ?? ''))
    return fail(403, 'expected a request from this machine');
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  if (pathname === '/metrics') {
    const type = { 'content-type': 'text/plain; version=0.0.4' };
    return { status: 200, headers: type, body: agent.counters.print(agent.routes) };
  }
  if (pathname !== '/pcwnd' && pathname !== '/pcwnd-header') return fail(404, 'expected /metrics or /pcwnd');
  const connections = searchParams.get('connections');
  if (connections !== null && !/^[1-9]\d{0,3}$/.test(connections))
    return fail(400, 'connections: expected a whole number from 1 to 9999');
  const address = headers['hopwise-client'];
  const client = typeof address === 'string' ? agent.names.find(address) : null;
  if (client === null) return fail(400, 'Hopwise-Client: expected the address of a client');
  const npc = connections === null ? null : Math.min(6, Number(connections));
  const windows = agent.curves.read(client.name, client.narrow, npc, Date.now());
  if (pathname === '/pcwnd-header') return headerAnswer(windows);
  if (windows.length === 0) return fail(404, 'nothing was counted in this cluster in the last 100 s');
  return {
    status: 200,
    headers: JSON_TYPE,
    body: JSON.stringify({ format: 'hopwise-pcwnd', version: 1, windows }),
  };
}

/** Of each window its rounds and loss events, as a list of items with parameters (RFC 9651); 204 lets nginx go on. */
function headerAnswer(windows: readonly WindowCount[]): Answer {
  const list = windows
    .map(({ cwnd, rounds, lossEvents }) => `${cwnd};r=${rounds};l=${lossEvents}`)
    .join(', ');
  return { status: 204, headers: { pcwnd: list, 'cache-control': 'no-store' }, body: '' };
}

const fail = (status: number, error: string): Answer => ({
  status,
  headers: JSON_TYPE,
  body: JSON.stringify({ error }),
});
