/** Builds the lab's program from its Go sources. */
import { execFile } from 'node:child_process';
import { readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../paths.ts';

const run = promisify(execFile);

/** The Go module of the lab. */
const LAB_MODULE = join(ROOT, 'lab/go');
/** The program that `buildLab` makes. */
export const LAB_BINARY = join(LAB_MODULE, 'bin/hopwise-lab');

/** The oldest supported Go version, `[major, minor]`, as in go.mod. */
const GO_VERSION: [number, number] = [1, 25];
const GO_REMEDY = `install Go ${GO_VERSION.join('.')} or later from https://go.dev/dl/ and put it on the PATH`;

/** The version of `go` on the PATH, such as `go1.25.4`. @throws with one line when it is missing or too old. */
export async function goVersion(go = 'go'): Promise<string> {
  let version: string;
  try {
    // Not `local`: Go could then download the newer toolchain that go.mod asks for.
    const { stdout } = await run(go, ['env', 'GOVERSION'], {
      cwd: '/',
      env: { ...process.env, GOTOOLCHAIN: 'local' },
    });
    version = stdout.trim();
  } catch (error) {
    throw new Error(`Go cannot be run (${reason(error)}): ${GO_REMEDY}`);
  }
  const [major = 0, minor = 0] = (/^go(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  // A development build has no number and is newer than any release.
  const isNumbered = major > 0;
  if (isNumbered && (major < GO_VERSION[0] || (major === GO_VERSION[0] && minor < GO_VERSION[1]))) {
    throw new Error(`Go is too old (${version}): ${GO_REMEDY}`);
  }
  return version;
}

/** The program, built where it is missing or older than its sources. @throws with one line. */
export async function labProgram(signal?: AbortSignal): Promise<string> {
  const built = await stat(LAB_BINARY).catch(() => null);
  if (built && built.mtimeMs >= (await newestSource())) return LAB_BINARY;
  return buildLab(signal ? { signal } : {});
}

/** Modification time in ms. */
async function newestSource(): Promise<number> {
  const names = await readdir(LAB_MODULE, { recursive: true });
  const sources = names.filter((name) => /(\.go|go\.(mod|sum))$/.test(name));
  const times = await Promise.all(sources.map(async (name) => (await stat(join(LAB_MODULE, name))).mtimeMs));
  return Math.max(...times);
}

/**
 * Brings the program up to date; Go's own cache makes that a fraction of a second when nothing changed.
 *
 * @returns the program's path.
 * @throws with one line.
 */
async function buildLab({ go = 'go', signal }: { go?: string; signal?: AbortSignal } = {}): Promise<string> {
  await goVersion(go);
  const begun = new Date();
  try {
    await run(go, ['build', '-trimpath', '-o', LAB_BINARY, '.'], {
      cwd: LAB_MODULE,
      env: { ...process.env, CGO_ENABLED: '0' },
      ...(signal && { signal }),
    });
  } catch (error) {
    throw new Error(`the lab cannot be built: ${reason(error)}`);
  }
  // Go does not touch an unchanged program: the new time records that it was compared with its sources.
  await utimes(LAB_BINARY, begun, begun);
  return LAB_BINARY;
}

function reason(error: unknown): string {
  const { stderr, message, code } = error as { stderr?: string; message: string; code?: string | number };
  if (code === 'ENOENT') return 'not found';
  const lines = (stderr || message).split('\n').filter((line) => line.trim() && !line.startsWith('#'));
  return lines[0]?.trim() ?? message;
}
