/** The packages for npm. That of the command runs alone in an empty folder, without a network. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ROOT } from '@hopwise/lab/paths';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packCommand } from '../../package/command.ts';
import { packFixtures } from '../../package/fixtures.ts';
import { readRelease } from '../../package/release.ts';

const RELEASE = readRelease(ROOT);
const SAMPLE = join(ROOT, 'e2e/examples/playwright/pages/app.json.gz');
let folder: string;
let file: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hopwise-npm-'));
  const packed = await packCommand({ root: ROOT, target: join(folder, 'packed'), release: RELEASE });
  mkdirSync(join(folder, 'empty'));
  file = join(folder, 'empty', basename(packed));
  copyFileSync(packed, file);
  copyFileSync(SAMPLE, join(folder, 'empty/page.har'));
  execFileSync('tar', ['-xzf', file, '-C', folder]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inFolder = () => ({ cwd: join(folder, 'empty'), encoding: 'utf8' }) as const;

/** Runs the unpacked command, which takes less time than npx. */
function hopwise(...words: string[]) {
  const command = join(folder, 'package/dist/hopwise.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...words], inFolder());
  return { status, stdout, stderr };
}

describe('the npm package of the fixtures', () => {
  test('holds the packages of this checkout, and exports the fixtures', async () => {
    const packed = await packFixtures({ root: ROOT, target: join(folder, 'fixtures'), release: RELEASE });
    const place = join(folder, 'fixtures/node_modules');
    mkdirSync(join(place, '@hopwise/playwright'), { recursive: true });
    const words = ['-xzf', packed, '-C', join(place, '@hopwise/playwright'), '--strip-components=1'];
    execFileSync('tar', words);
    const manifest = JSON.parse(readFileSync(join(place, '@hopwise/playwright/package.json'), 'utf8'));
    expect(manifest.bundleDependencies).toEqual([
      '@hopwise/contract',
      '@hopwise/pageload-emulator',
      '@hopwise/lab',
      '@hopwise/e2e',
    ]);
    // What npm would fetch.
    const fetched = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    for (const name of readdirSync(join(ROOT, 'node_modules')).filter((each) => each !== '@hopwise')) {
      symlinkSync(join(ROOT, 'node_modules', name), join(place, name));
    }
    for (const name of fetched.filter((each) => !each.startsWith('@hopwise/'))) {
      expect(existsSync(join(place, name)), name).toBe(true);
    }
    const script = `import('@hopwise/playwright').then((all) => console.log(Object.keys(all).sort().join()))`;
    const answer = execFileSync(process.execPath, ['-e', script], {
      cwd: join(folder, 'fixtures'),
      encoding: 'utf8',
    });
    expect(answer).toBe('PROTOCOLS,ReplayError,expect,labObstacle,linkTest,predictionOf,test\n');
  });
});

describe('the npm package of the command', () => {
  test('answers in an empty folder', () => {
    const words = ['--offline', '--yes', `./${basename(file)}`, 'predict', 'page.har'];
    const env = { PATH: process.env.PATH, HOME: folder, npm_config_cache: join(folder, 'cache') };
    const { status, stdout, stderr } = spawnSync('npx', words, { ...inFolder(), env });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^protocol +load time/m);
  });

  test('knows its version, judges a budget, writes JUnit XML, and checks itself', () => {
    expect(hopwise('--version')).toEqual({ status: 0, stdout: `${RELEASE.version}\n`, stderr: '' });
    writeFileSync(join(folder, 'empty/budget.json'), '{"loadTimeMs": 60000}');
    const words = [
      'check',
      'page.har',
      '--network',
      'lte',
      '--budget',
      'budget.json',
      '--junit',
      'check.xml',
    ];
    expect(hopwise(...words)).toMatchObject({ status: 0 });
    expect(readFileSync(join(folder, 'empty/check.xml'), 'utf8')).toContain('tests="1" failures="0"');
    const { checks } = JSON.parse(hopwise('doctor', '--json', '--offline').stdout) as {
      checks: { name: string; ok: boolean }[];
    };
    expect(checks).toContainEqual(expect.objectContaining({ name: 'prediction', ok: true }));
  });

  test('runs what the workflow of the example runs, as it is written there', () => {
    const example = join(ROOT, 'docs/examples/check');
    const [, script = ''] =
      /sh -c '\n([^']+)'/.exec(readFileSync(join(example, 'workflow.yml'), 'utf8')) ?? [];
    expect(script).toContain('hopwise check');
    const [site, out] = [join(folder, 'site'), join(folder, 'out')];
    for (const place of [out, join(site, 'pages'), join(site, 'node_modules/.bin')])
      mkdirSync(place, { recursive: true });
    for (const name of ['networks.json', 'budget.json']) copyFileSync(join(example, name), join(site, name));
    copyFileSync(SAMPLE, join(site, 'pages/app.har'));
    symlinkSync(join(folder, 'package/dist/hopwise.js'), join(site, 'node_modules/.bin/hopwise'));
    const path = `${dirname(process.execPath)}:${process.env.PATH}`;
    const command = script.replaceAll('/out/', `${out}/`);
    const run = spawnSync('sh', ['-c', command], { cwd: site, encoding: 'utf8', env: { PATH: path } });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(out, 'check.md'), 'utf8')).toContain('| app.har |');
    expect(readFileSync(join(out, 'check.xml'), 'utf8')).toContain('failures="0"');
  });

  test('has at most 2 MB, no dependency, all licences, and nothing of this machine', () => {
    expect(statSync(file).size).toBeLessThanOrEqual(2_000_000);
    const read = (path: string) => readFileSync(join(folder, 'package', path), 'utf8');
    const manifest = JSON.parse(read('package.json'));
    expect(manifest).toMatchObject({ name: 'hopwise', version: RELEASE.version, engines: { node: '>=20' } });
    expect(manifest).not.toHaveProperty('dependencies');
    for (const name of ['commander', 'tldts', 'zod']) {
      expect(read('THIRD-PARTY-LICENSES.txt')).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
    // It ends with 1 where it finds nothing.
    expect(spawnSync('grep', ['-rlF', ROOT, join(folder, 'package')]).status).toBe(1);
  });

  test('is a library with its types, also of what is read from other packages', () => {
    const place = join(folder, 'typed');
    mkdirSync(join(place, 'node_modules'), { recursive: true });
    execFileSync('cp', ['-r', join(folder, 'package'), join(place, 'node_modules/hopwise')]);
    writeFileSync(
      join(place, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: [], noEmit: true },
          // Also checks the declarations themselves.
          ...{ strict: true, skipLibCheck: false },
        },
      }),
    );
    writeFileSync(join(place, 'package.json'), '{"type": "module"}');
    const check = (line: string) => {
      const imports = `import { type Prediction, parseRecording, predict, type Verification } from 'hopwise';
import { predictEcon } from 'hopwise/econ';
declare const text: string;
declare const verification: Verification;
const prediction: Prediction = predict(parseRecording(text), { network: { rttMs: 60, loss: 0.01 } });
`;
      writeFileSync(join(place, 'page.ts'), `${imports}${line}\n`);
      const { status, stdout } = spawnSync(
        process.execPath,
        [join(ROOT, 'node_modules/@typescript/native/bin/tsc'), '-p', '.'],
        { cwd: place, encoding: 'utf8' },
      );
      return {
        status,
        codes: [...stdout.matchAll(/^page\.ts.*error (TS\d+)/gm)].map(([, code]) => code),
        stdout,
      };
    };
    const right =
      'export const shown: [string, string, unknown] = [prediction.decision.verdict, verification.pageUrl, predictEcon];';
    expect(check(right)).toEqual({ status: 0, codes: [], stdout: '' });
    // What has no type would be taken.
    const wrong =
      'export const shown: [number, number] = [prediction.decision.verdict, verification.pageUrl];';
    expect(check(wrong).codes).toEqual(['TS2322', 'TS2322']);
  });

  test('is a library', () => {
    const script = `import('hopwise').then(({ PROTOCOLS, predict }) => console.log(PROTOCOLS.join(), typeof predict))`;
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    execFileSync('cp', ['-r', join(folder, 'package'), join(folder, 'node_modules/hopwise')]);
    expect(execFileSync('node', ['-e', script], { cwd: folder, encoding: 'utf8' })).toBe(
      'h1,h2,h3 function\n',
    );
  });
});
