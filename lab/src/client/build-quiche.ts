/** Builds the lab's HTTP/3 server on quiche from its Rust sources. */
import { execFile } from 'node:child_process';
import { readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../paths.ts';

const run = promisify(execFile);

/** The crate of the server. */
const QUICHE_CRATE = join(ROOT, 'lab/quiche');
/** The program that `quicheProgram` makes. */
export const QUICHE_BINARY = join(QUICHE_CRATE, 'target/release/hopwise-quiche');

/** The oldest supported Rust version, `[major, minor]`, as in Cargo.toml. */
const RUST_VERSION: [number, number] = [1, 88];
const RUST_REMEDY = `install Rust ${RUST_VERSION.join('.')} or later from https://rustup.rs and put cargo on the PATH`;

/** Programs that the build runs. */
interface QuicheTools {
  cargo?: string;
  cmake?: string;
}

/**
 * Checks what building needs, other than a C++ compiler and libclang, which only the build itself finds missing.
 *
 * @returns one line that says what is missing and how to fix it, or null.
 */
export async function quicheObstacle({
  cargo = 'cargo',
  cmake = 'cmake',
}: QuicheTools = {}): Promise<string | null> {
  try {
    const { stdout } = await run(cargo, ['--version']);
    const [major = 0, minor = 0] = (/^cargo (\d+)\.(\d+)/.exec(stdout) ?? []).slice(1).map(Number);
    if (major < RUST_VERSION[0] || (major === RUST_VERSION[0] && minor < RUST_VERSION[1]))
      return `Rust is too old (${stdout.trim()}): ${RUST_REMEDY}`;
  } catch (error) {
    return `cargo cannot be run (${reason(error)}): ${RUST_REMEDY}`;
  }
  try {
    await run(cmake, ['--version']);
  } catch (error) {
    return `cmake cannot be run (${reason(error)}): install it (Debian: apt install cmake), quiche's TLS is built with it`;
  }
  return null;
}

/**
 * The program, built where it is missing or older than its sources: minutes at first, seconds later.
 *
 * @throws with one line.
 */
export async function quicheProgram(signal?: AbortSignal): Promise<string> {
  const built = await stat(QUICHE_BINARY).catch(() => null);
  if (built && built.mtimeMs >= (await newestSource())) return QUICHE_BINARY;
  const obstacle = await quicheObstacle();
  if (obstacle !== null) throw new Error(obstacle);
  const begun = new Date();
  try {
    await run('cargo', ['build', '--release', '--locked'], {
      cwd: QUICHE_CRATE,
      maxBuffer: 64 << 20,
      ...(signal && { signal }),
    });
  } catch (error) {
    throw new Error(buildComplaint(error));
  }
  // Cargo does not touch an unchanged program: the new time records that it was compared with its sources.
  await utimes(QUICHE_BINARY, begun, begun);
  return QUICHE_BINARY;
}

/** Modification time in ms. */
async function newestSource(): Promise<number> {
  const names = await readdir(join(QUICHE_CRATE, 'src'));
  const sources = ['Cargo.toml', 'Cargo.lock', ...names.map((name) => join('src', name))];
  const times = await Promise.all(
    sources.map(async (name) => (await stat(join(QUICHE_CRATE, name))).mtimeMs),
  );
  return Math.max(...times);
}

/** What a failed build says, in one line with a remedy. */
export function buildComplaint(error: unknown): string {
  const { stderr = '' } = error as { stderr?: string };
  if (/Unable to find libclang/.test(stderr))
    return "quiche's TLS cannot be built without libclang: install it (Debian: apt install libclang-dev)";
  return `the lab's server on quiche cannot be built: ${reason(error)}`;
}

function reason(error: unknown): string {
  const { stderr, message, code } = error as { stderr?: string; message: string; code?: string | number };
  if (code === 'ENOENT') return 'not found';
  const lines = (stderr ?? '').split('\n').filter((line) => /^\s*error/.test(line));
  return lines[0]?.trim() ?? message.split('\n')[0] ?? message;
}
