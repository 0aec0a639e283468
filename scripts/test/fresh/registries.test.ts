import { expect, test } from 'vitest';
import { debianSources, npmRegistryLines, registryVariables } from '../../fresh/registries.ts';

test("of apt's sources Debian's main packages of the release and its updates are taken", () => {
  const targets = [
    'http://mirror.test/debian/|bookworm|main|Debian',
    'http://mirror.test/debian/|bookworm-updates|main|Debian',
    'http://mirror.test/debian/|bookworm|contrib|Debian',
    'http://mirror.test/debian/|bookworm-backports|main|Debian Backports',
    'http://mirror.test/debian/|trixie|main|Debian',
    'https://browser.test/|bookworm|main|A browser',
    'http://mirror.test/debian-security/|bookworm-security|main|Debian',
    '',
  ];
  expect(debianSources(targets.join('\n'), 'bookworm')).toEqual([
    { uri: 'http://mirror.test/debian/', suite: 'bookworm' },
    { uri: 'http://mirror.test/debian/', suite: 'bookworm-updates' },
    { uri: 'http://mirror.test/debian-security/', suite: 'bookworm-security' },
  ]);
});

test("of npm's settings those of registries are taken", () => {
  const registry = [
    'registry=https://npm.test/',
    '@some:registry = https://other.test/',
    '//npm.test/:_authToken=secret',
    'cafile=/etc/ssl/ca.crt',
    'https-proxy=http://proxy.test:3128',
  ];
  const others = ['save-exact=true', 'nodedir=/usr', 'ignore-scripts=false', '; registry=none'];
  expect(npmRegistryLines([...others, ...registry].join('\n'))).toBe(registry.join('\n'));
});

test('variables of proxies and registries are passed on, those of certificates name the copy in the root', () => {
  const env = {
    HOME: '/root',
    PATH: '/usr/bin',
    npm_config_prefix: '/usr',
    npm_config_registry: 'https://npm.test/',
    HTTPS_PROXY: 'http://proxy.test',
    no_proxy: 'localhost',
    PIP_INDEX_URL: 'https://pip.test/simple',
    SSL_CERT_FILE: '/etc/ssl/certs/own.crt',
    NODE_EXTRA_CA_CERTS: '',
  };
  expect(registryVariables(env)).toEqual({
    npm_config_registry: 'https://npm.test/',
    HTTPS_PROXY: 'http://proxy.test',
    no_proxy: 'localhost',
    PIP_INDEX_URL: 'https://pip.test/simple',
    SSL_CERT_FILE: '/usr/local/share/registries.crt',
  });
});
