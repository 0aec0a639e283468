import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LINK_ORIGIN, LinkRelay, linkOf } from '../../src/playwright/link.ts';

describe('the option link', () => {
  it('takes the server from the configuration, and has defaults', () => {
    expect(linkOf({}, 'http://localhost:3000/app')).toEqual({
      server: 'http://localhost:3000',
      network: 'cable',
      protocol: 'natural',
      seed: 1,
    });
    expect(linkOf({ server: 'https://[::1]:8443', protocol: 'h3' }, 'http://localhost:3000')).toMatchObject({
      server: 'https://[::1]:8443',
      protocol: 'h3',
    });
  });

  it.each([
    [
      {},
      undefined,
      'link.server: expected a server such as http://localhost:3000, got neither it nor a baseURL',
    ],
    [
      { server: 'localhost:3000' },
      undefined,
      'link.server: expected a server such as http://localhost:3000, got "localhost:3000"',
    ],
    [{ protocol: 'h4' }, 'http://localhost', 'link.protocol: expected one of h1, h2, h3, natural, got "h4"'],
    [{ page: 'shop' }, 'http://localhost', 'link.page: expected no entry of this name'],
  ])('%j with %j is refused in one line', (link, baseURL, message) => {
    expect(() => linkOf(link, baseURL)).toThrow(message);
  });
});

describe('the way from the lab to a server', () => {
  it('passes all of a response on that ends with its connection, also to a slow reader that has ended its side', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hw-link-'));
    const response = Buffer.alloc(3_000_000, 'a');
    const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
      // The relay first only looks whether the server answers.
      socket.on('error', () => {});
      socket.resume().once('end', () => socket.end(response));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const relay = await LinkRelay.open(url, join(folder, 'a'));
    try {
      const client = connect(relay.upstreams[LINK_ORIGIN]!.socket);
      client.end('GET');
      let received = 0;
      for await (const part of client) {
        received += (part as Buffer).length;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect(received).toBe(response.length);
    } finally {
      await relay.close();
      server.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('passes bytes on by a socket in the file system', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hw-link-'));
    const server = createServer((_, response) => response.end('mine'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const relay = await LinkRelay.open(url, join(folder, 'a'));
    try {
      const { socket } = relay.upstreams[LINK_ORIGIN]!;
      const body = await new Promise((resolve, reject) => {
        request({ socketPath: socket, path: '/' }, (response) =>
          response.on('data', (part) => resolve(String(part))),
        )
          .on('error', reject)
          .end();
      });
      expect(body).toBe('mine');
      expect(relay.page.site.entry).toBe(`${LINK_ORIGIN}/`);
    } finally {
      await relay.close();
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('says at once that a server does not answer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hw-link-'));
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await new Promise((resolve) => server.close(resolve));
    await expect(LinkRelay.open(url, join(folder, 'a'))).rejects.toThrow(
      `link.server: ${url} does not answer (ECONNREFUSED): start it, or name its command as webServer`,
    );
    rmSync(folder, { recursive: true });
  });
});
