/** A server of one's own behind the emulated link, as a test engineer uses it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { linkTest as base, expect } from '../src/playwright/index.ts';

/** A server as in development: it refuses other hosts, redirects to itself by its own address, sets a cookie. */
const test = base.extend<object, { server: { url: string; hosts: Set<string> } }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs.
    async ({}, use) => {
      const hosts = new Set<string>();
      const server: Server = createServer((request, response) => {
        const { port } = server.address() as AddressInfo;
        hosts.add(request.headers.host ?? '');
        if (request.headers.host !== `localhost:${port}`) response.writeHead(403).end('another host');
        else if (request.url === '/old') {
          response.writeHead(302, { location: `http://localhost:${port}/`, 'set-cookie': 'seen=1' }).end();
        } else if (request.url === '/slow.js') {
          response.writeHead(200, { 'content-type': 'text/javascript' }).end(`/*${'x'.repeat(200_000)}*/`);
        } else {
          response
            .writeHead(200, { 'content-type': 'text/html' })
            .end(`<title>Mine</title><p>${request.headers.cookie ?? ''}</p><script src="/slow.js"></script>`);
        }
      });
      await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
      await use({ url: `http://localhost:${(server.address() as AddressInfo).port}`, hosts });
      server.closeAllConnections();
      server.close();
    },
    { scope: 'worker' },
  ],
});

/** 200,000 bytes at 2 Mbit/s take 0.8 s. */
const NETWORK = { profile: 'cable', downMbps: 2, rttMs: 100 };

for (const protocol of ['h1', 'h2', 'h3'] as const) {
  const linked = test.extend({
    link: async ({ server }, use) => use({ server: server.url, network: NETWORK, protocol }),
  });

  linked(
    `is loaded over ${protocol}, at the pace of the link`,
    async ({ page, linkLab, linkUrl, server }) => {
      await linkLab.log();
      await page.goto('/old');
      expect(page.url()).toBe(linkUrl);
      await expect(page).toHaveTitle('Mine');
      await expect(page.locator('p')).toHaveText('seen=1');
      const timing = await page.evaluate(() => {
        const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
        const script = performance.getEntriesByName(
          `${location.origin}/slow.js`,
        )[0] as PerformanceResourceTiming;
        return { protocol: navigation!.nextHopProtocol, ms: script.responseEnd - script.startTime };
      });
      expect(timing.protocol).toBe({ h1: 'http/1.1', h2: 'h2', h3: 'h3' }[protocol]);
      expect(timing.ms).toBeGreaterThan(800);
      const { entries } = await linkLab.log();
      expect(entries.map(({ path, status }) => `${status} ${path}`)).toEqual(
        expect.arrayContaining(['302 /old', '200 /', '200 /slow.js']),
      );
      expect(new Set(entries.map((entry) => entry.protocol))).toEqual(new Set([protocol]));
      expect([...server.hosts]).toEqual([new URL(server.url).host]);
    },
  );
}
