import { expect, test } from 'vitest';
import {
  inEnvironment,
  inGnome,
  inKde,
  inMacos,
  inWindows,
} from '../../../src/pins/system-proxy/settings.ts';

test.each([
  [{}, ''],
  [{ no_proxy: '*' }, ''],
  [{ http_proxy: 'http://proxy:3128' }, 'the environment variable http_proxy'],
  [{ https_proxy: '' }, ''],
  [{ https_proxy: 'http://proxy:3128' }, 'the environment variable https_proxy'],
  [{ ALL_PROXY: 'socks5://proxy' }, 'the environment variable ALL_PROXY'],
  [{ auto_proxy: '', all_proxy: 'x' }, 'the environment variable all_proxy'],
])('environment %j: %j', (environment, where) => {
  expect(inEnvironment(environment)).toBe(where);
});

test.each([
  ["'none'\n", false],
  ['', false],
  ["'manual'\n", true],
  ["'auto'\n", true],
])('GNOME %j: %s', (mode, has) => {
  expect(inGnome(mode) !== '').toBe(has);
});

test.each([
  ['', false],
  ['[Proxy Settings]\nProxyType=0\n', false],
  ['[Proxy Settings]\nhttpsProxy=http://proxy 3128\nProxyType=1\n', true],
  ['[A]\nx=1\n[Proxy Settings]\nProxyType=2\n[B]\ny=1\n', true],
  ['[Proxy Settings]\nProxyType=0\n[Else]\nProxyType=1\n', false],
])('KDE %j: %s', (text, has) => {
  expect(inKde(text) !== '').toBe(has);
});

test.each([
  ['<dictionary> {\n  HTTPSEnable : 0\n  ProxyAutoConfigEnable : 0\n}\n', false],
  ['<dictionary> {\n  FTPEnable : 1\n}\n', false],
  ['<dictionary> {\n  HTTPEnable : 1\n}\n', true],
  ['<dictionary> {\n  HTTPSEnable : 1\n  HTTPSPort : 3128\n}\n', true],
  ['<dictionary> {\n  ProxyAutoConfigEnable : 1\n}\n', true],
])('macOS %j: %s', (text, has) => {
  expect(inMacos(text) !== '').toBe(has);
});

const connection = (flags: string) =>
  `    DefaultConnectionSettings    REG_BINARY    4600000003000000${flags}000000`;

test.each([
  ['    ProxyEnable    REG_DWORD    0x0\n', connection('01'), false],
  ['', '', false],
  ['    ProxyEnable    REG_DWORD    0x1\n    ProxyServer    REG_SZ    proxy:3128\n', '', true],
  ['    AutoConfigURL    REG_SZ    http://wpad/proxy.pac\n', connection('01'), true],
  ['    ProxyEnable    REG_DWORD    0x0\n', connection('03'), true],
  ['    ProxyEnable    REG_DWORD    0x0\n', connection('05'), true],
  ['    ProxyEnable    REG_DWORD    0x0\n', connection('09'), true],
])('Windows %j, %j: %s', (settings, flags, has) => {
  expect(inWindows(settings, flags) !== '').toBe(has);
});
