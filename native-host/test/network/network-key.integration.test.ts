/** The helper recognises networks by the kernel's own tables, in a network namespace. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CHROMIUM_ARGUMENTS, HostProcess } from '../support/host-process.ts';

/** What a machine is connected to; there is no router that answers, so its hardware address is given. */
const HOME = `
ip link add wlan0 type veth peer name router
ip addr add 192.168.1.7/24 dev wlan0
ip link set router up
ip link set wlan0 up
ip route add default via 192.168.1.1
ip neigh replace 192.168.1.1 lladdr 02:00:00:00:00:01 dev wlan0`;
const CAFE = `${HOME}
ip neigh replace 192.168.1.1 lladdr 02:00:00:00:00:02 dev wlan0`;
const UNKNOWN_ROUTER = `${HOME}
ip neigh del 192.168.1.1 dev wlan0`;
const IPV6 = `
ip link add wlan0 type veth peer name router
ip link set router up
ip link set wlan0 up
ip -6 route add default via fe80::1 dev wlan0`;

let data: string;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'hopwise-network-'));
});

afterEach(() => {
  rmSync(data, { recursive: true });
});

/** Runs the command behind it in a network namespace of its own. */
const onMachine = (links: string): string[] => [
  ...['unshare', '--map-root-user', '--net', 'sh', '-c'],
  `set -e\n${links}\nexec "$@"`,
  'sh',
];

/** Asks a new helper on a machine with these links. */
async function identifyOn(links: string): Promise<string | null> {
  const env = { XDG_DATA_HOME: data, XDG_STATE_HOME: data };
  const host = new HostProcess(env, CHROMIUM_ARGUMENTS, 'inherit', onMachine(links));
  try {
    host.send({ type: 'network', id: 'n' });
    const answer = await host.next();
    if (answer.type !== 'network') throw new Error(`expected the network, found ${JSON.stringify(answer)}`);
    return answer.key;
  } finally {
    await host.end();
  }
}

it('knows a network again, and tells apart those with the same addresses', async () => {
  const home = await identifyOn(HOME);
  expect(home).toMatch(/^[\w-]{22}$/);
  expect(await identifyOn(HOME)).toBe(home);
  const others = [await identifyOn(CAFE), await identifyOn(IPV6)];
  expect(others).not.toContain(null);
  expect(new Set([home, ...others]).size).toBe(3);
});

it('recognises nothing without a default route or a router that is known', async () => {
  expect(await identifyOn('')).toBeNull();
  expect(await identifyOn(UNKNOWN_ROUTER)).toBeNull();
});

it('keeps its secret to this user, and replaces one that was cut off', async () => {
  const path = join(data, 'hopwise', 'network-secret');
  const home = await identifyOn(HOME);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const secret = readFileSync(path);
  writeFileSync(path, secret.subarray(0, 5));
  const later = await identifyOn(HOME);
  expect(later).toMatch(/^[\w-]{22}$/);
  expect(later).not.toBe(home);
  writeFileSync(path, secret);
  expect(await identifyOn(HOME)).toBe(home);
});

it('answers an error where the secret cannot be kept', async () => {
  writeFileSync(join(data, 'hopwise'), '');
  const env = { XDG_DATA_HOME: data, XDG_STATE_HOME: join(data, 'state') };
  const host = new HostProcess(env, CHROMIUM_ARGUMENTS, 'inherit', onMachine(HOME));
  host.send({ type: 'network', id: 'n' });
  expect(await host.next()).toMatchObject({ type: 'error', id: 'n', code: 'internal' });
  expect(await host.end()).toBe(0);
});
