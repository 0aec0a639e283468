import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { nginxProgram } from '../../src/client/nginx.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hopwise-nginx-program-'));
  vi.stubEnv('HOPWISE_NGINX', '');
  vi.stubEnv('XDG_DATA_HOME', join(folder, 'data'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

/** A program that states a version of nginx. */
async function fakeNginx(place: string, version: string): Promise<string> {
  const path = join(folder, place, 'nginx');
  await mkdir(join(folder, place), { recursive: true });
  await writeFile(path, `#!/bin/sh\necho "nginx version: nginx/${version}" >&2\n`);
  await chmod(path, 0o755);
  return path;
}

test('takes the nginx that is named, and no other', async () => {
  const named = await fakeNginx('named', '1.26.3');
  vi.stubEnv('HOPWISE_NGINX', named);
  expect(await nginxProgram()).toEqual({ program: named });
  const old = await fakeNginx('old', '1.20.2');
  vi.stubEnv('HOPWISE_NGINX', old);
  const remedy = 'install nginx 1.22 or later, or name one in HOPWISE_NGINX';
  await expect(nginxProgram()).rejects.toThrow(`HOPWISE_NGINX: ${old} cannot be used: ${remedy}`);
  vi.stubEnv('HOPWISE_NGINX', 'nginx');
  await expect(nginxProgram()).rejects.toThrow('HOPWISE_NGINX: expected an absolute path, got nginx');
});

test('takes the first on the PATH that is new enough', async () => {
  await fakeNginx('first', '1.18.0');
  const second = await fakeNginx('second', '1.22.0');
  vi.stubEnv('PATH', `${join(folder, 'first')}:${join(folder, 'second')}:${process.env.PATH}`);
  expect(await nginxProgram()).toEqual({ program: second });
});

test('says in one line what is missing where no copy can be made', async () => {
  // Without apt-get; the machine itself may have nginx.
  vi.stubEnv('PATH', folder);
  const found = await nginxProgram().catch((error: Error) => error.message);
  if (typeof found === 'string')
    expect(found).toBe(
      'nginx is missing, and no copy could be made (apt-get and dpkg-deb are needed for it): install nginx 1.22 or later, or name one in HOPWISE_NGINX',
    );
  else expect(found.program).toMatch(/^\/usr\/(local\/)?sbin\/nginx$/);
});

test('takes the private copy with its libraries', async () => {
  const copy = await fakeNginx('data/hopwise/nginx/1.22.1-9_deb12u9', '1.22.1');
  vi.stubEnv('PATH', folder);
  const { program, libraries } = await nginxProgram();
  // The machine's own comes first.
  if (program === copy) expect(libraries).toBe(join(folder, 'data/hopwise/nginx/1.22.1-9_deb12u9'));
  else expect(program).toMatch(/^\/usr\/(local\/)?sbin\/nginx$/);
});
