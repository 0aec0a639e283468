/** What this machine knows of package registries, so that a bare root reaches the same ones: found here, never named. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** What a program prints, away from this checkout's own settings. */
const output = (file: string, words: string[]): string =>
  execFileSync(file, words, { encoding: 'utf8', cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });

/** A line of `apt-get indextargets`, as far as it is asked for. */
export interface AptSource {
  uri: string;
  suite: string;
}

/** The machine's sources of a Debian release's main packages, and of its updates; those of others and of backports are left out. */
export function debianSources(indexTargets: string, release: string): AptSource[] {
  const suites = [release, `${release}-updates`, `${release}-security`];
  const rows = indexTargets.split('\n').map((line) => line.split('|'));
  const found = rows.filter(
    ([, suite = '', component, origin]) =>
      suites.includes(suite) && component === 'main' && origin === 'Debian',
  );
  return found.map(([uri, suite]) => ({ uri: uri!, suite: suite! }));
}

/** @throws Error where apt has no source of the release */
export function readDebianSources(release: string): AptSource[] {
  const format = '$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)';
  const words = ['indextargets', '--format', format, 'Identifier: Packages'];
  const sources = debianSources(output('apt-get', words), release);
  if (sources.length === 0) throw new Error(`apt has no source of Debian ${release}: sudo apt-get update`);
  return sources;
}

/** apt's settings of proxies, certificates and limits. */
export function readAptSettings(): string {
  const lines = output('apt-config', ['dump', 'Acquire']).split('\n');
  return lines.filter((line) => /^Acquire::(https?|Check-|Max-|Retries)/i.test(line)).join('\n');
}

const NPM_SETTING = /^(@[^=]+:)?(registry|cafile|cert|key|proxy|https-proxy|noproxy|strict-ssl) *=|^\/\//;

/** The lines of an npmrc that say where packages come from and how they are reached. */
export function npmRegistryLines(npmrc: string): string {
  return npmrc
    .split('\n')
    .filter((line) => NPM_SETTING.test(line))
    .join('\n');
}

/** Variables of proxies and of the programs' registries. */
const VARIABLE =
  /^((https?|ftp|all|no)_proxy|npm_config_registry|pip_(index_url|extra_index_url|proxy|default_timeout)|cargo_registr.*)$/i;
/** Variables that name a file of CA certificates. */
const CERTIFICATES_VARIABLE = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|PIP_CERT|REQUESTS_CA_BUNDLE)$/;
const GO_VARIABLES = [
  'GOPROXY',
  'GOSUMDB',
  'GONOSUMDB',
  'GONOSUMCHECK',
  'GOPRIVATE',
  'GONOPROXY',
  'GOINSECURE',
];

/** Where the root has this machine's CA certificates: not the system's own place, so that set-up has to make that one. */
const CERTIFICATES = '/usr/local/share/registries.crt';

/** The variables of `env` that tell programs where registries are; those that name a file of certificates name the root's. */
export function registryVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value && VARIABLE.test(name)) found[name] = value;
    if (value && CERTIFICATES_VARIABLE.test(name)) found[name] = CERTIFICATES;
  }
  return found;
}

/** Go's settings by its own command, which knows the defaults. */
function goVariables(): Record<string, string> {
  try {
    const all = JSON.parse(output('go', ['env', '-json', ...GO_VARIABLES]));
    return Object.fromEntries(Object.entries(all as Record<string, string>).filter(([, value]) => value));
  } catch {
    // Without Go on this machine there are no settings of it but those in the environment.
    return Object.fromEntries(
      GO_VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]!]] : [])),
    );
  }
}

/** Copies `from` to `to` with the folders above it, if it is there. */
function copyIfThere(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

/**
 * Writes this machine's configuration of the registries into a root.
 *
 * @returns the variables that programs in it need
 */
export function writeRegistries(root: string): Record<string, string> {
  const npmrc = ['globalconfig', 'userconfig'].map((which) => {
    const file = output('npm', ['config', 'get', which]).trim();
    return existsSync(file) ? npmRegistryLines(readFileSync(file, 'utf8')) : '';
  });
  const variables = { ...registryVariables(process.env), ...goVariables() };
  const bundle = process.env.SSL_CERT_FILE ?? '/etc/ssl/certs/ca-certificates.crt';
  const lines = npmrc.join('\n').replace(/^cafile *=.*$/gm, `cafile=${CERTIFICATES}`);
  mkdirSync(join(root, 'usr/local/etc'), { recursive: true });
  writeFileSync(join(root, 'usr/local/etc/npmrc'), `${lines}\n`);
  copyIfThere(bundle, join(root, CERTIFICATES));
  // Debian's ca-certificates takes these up when it is installed.
  const local = '/usr/local/share/ca-certificates';
  if (existsSync(local)) execFileSync('cp', ['-rT', local, join(root, local)]);
  const pip = '/etc/pip.conf';
  copyIfThere(pip, join(root, pip));
  copyIfThere(join(homedir(), '.config/pip/pip.conf'), join(root, 'etc/xdg/pip/pip.conf'));
  copyIfThere('/etc/resolv.conf', join(root, 'etc/resolv.conf'));
  return variables;
}
