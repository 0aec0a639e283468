/** Go, in which the lab is written: the machine's where it is new enough, else the project's own. Node's own modules only. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findOnPath, ROOT } from './programs.mjs';

/** Hashes of the module by Node's name of the machine, as in go.sum. */
const SUMS = {
  x64: ['amd64', 'h1:ZOmGe1OnfREDMIdb1Qi4G9JSuDPBLGExZMQ4nis1RXM='],
  arm64: ['arm64', 'h1:sYL/O6MqS68ML0kjsQ36WoYIpJqkw60TxizWUYUKQMc='],
};
const VERSION = '1.26.8';
const [machine, sum] = SUMS[process.arch] ?? [process.arch, ''];

/** The Go that set-up brings, a module of the Go project. */
export const GO_TOOLCHAIN = {
  version: VERSION,
  module: `golang.org/toolchain@v0.0.1-go${VERSION}.linux-${machine}`,
  sum,
};

/** Go's module cache with that toolchain alone. */
export const OWN_GO_FOLDER = join(ROOT, '.cache', 'go');
const OWN_GO = join(OWN_GO_FOLDER, GO_TOOLCHAIN.module, 'bin', 'go');

/** The oldest Go that compiles the lab, such as `1.25.0`. */
export function oldestGo() {
  return /^go (\S+)$/m.exec(readFileSync(join(ROOT, 'lab/go/go.mod'), 'utf8'))[1];
}

/** Whether version `a` is `b` or later; both have numbers with dots between, and `a` may have more. */
export function isAtLeast(a, b) {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (const [i, number] of right.entries()) {
    const other = left[i] ?? 0;
    if (other !== number) return other > number;
  }
  return true;
}

/** The machine's Go, if it is of this version or a later one. */
export function findGo(oldest) {
  const go = findOnPath('go');
  const version = go && /go([\d.]+)/.exec(spawnSync(go, ['version'], { encoding: 'utf8' }).stdout ?? '')?.[1];
  return version && isAtLeast(version, oldest) ? go : null;
}

/** The Go to compile the lab with; null for none. */
export function goPath() {
  return findGo(oldestGo()) ?? (existsSync(OWN_GO) ? OWN_GO : null);
}

/** `path` with that Go before all others. */
export function pathWithGo(path) {
  const go = goPath();
  return go === OWN_GO ? `${dirname(go)}:${path}` : path;
}
