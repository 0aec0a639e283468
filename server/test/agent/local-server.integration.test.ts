import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Agent } from '../../src/agent/agent.ts';
import { serveLocally } from '../../src/agent/local-server.ts';

let serving: Awaited<ReturnType<typeof serveLocally>>;

beforeAll(async () => {
  const options = { serverPorts: [443], windows: [10], objective: 'p80', table: 199 } as const;
  const limits = { maxRoutes: 1, minConnections: 1, interval: 1000 };
  const agent = new Agent({ ...options, ...limits, state: '/nonexistent' }, Buffer.alloc(32), () => {});
  serving = await serveLocally(agent, 0);
});

afterAll(() => void serving.server.close());

async function ask(path: string, headers: Record<string, string>, method = 'GET') {
  const asked = request({ host: '127.0.0.1', port: serving.port, path, headers, method, agent: false }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}

it.each([
  ['//', {}, 404],
  ['//[', {}, 404],
  ['/metrics', { host: 'page.example' }, 403],
  ['/pcwnd', { 'hopwise-client': 'constructor' }, 400],
  ['/pcwnd?connections=1e9', { 'hopwise-client': '203.0.113.7' }, 400],
])('refuses %s with %j, and goes on', async (path, headers, status) => {
  expect(await ask(path, headers)).toMatchObject({ status });
  expect(await ask('/metrics', {}, 'POST')).toMatchObject({ status: 405 });
  expect((await ask('/metrics', {})).body).toContain('hopwise_server_routes');
});
