import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildComplaint, quicheObstacle } from '../../src/client/build-quiche.ts';

test('says in one line what the build of the server on quiche lacks', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hopwise-cargo-'));
  const program = (name: string, words: string) => {
    const path = join(dir, name);
    writeFileSync(path, `#!/bin/sh\necho ${words}\n`, { mode: 0o755 });
    return path;
  };
  try {
    expect(await quicheObstacle({ cargo: 'no-such-cargo' })).toMatch(
      /^cargo cannot be run \(not found\): install Rust 1\.88 or later from https:\/\/rustup\.rs/,
    );
    const old = program('old-cargo', "'cargo 1.70.0 (ec8a8a0ca 2023-04-25)'");
    expect(await quicheObstacle({ cargo: old })).toMatch(
      /^Rust is too old \(cargo 1\.70\.0 .*\): install Rust 1\.88/,
    );
    const cargo = program('cargo', "'cargo 1.88.0 (873a06493 2025-05-10)'");
    expect(await quicheObstacle({ cargo, cmake: 'no-such-cmake' })).toMatch(
      /^cmake cannot be run \(not found\): install it \(Debian: apt install cmake\)/,
    );
    expect(await quicheObstacle({ cargo, cmake: program('cmake', 'cmake version 3.25.1') })).toBeNull();
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('shortens what a failed build of the server on quiche says to one line', () => {
  const failed = (stderr: string) =>
    buildComplaint({ stderr, message: 'Command failed: cargo build', code: 101 });
  expect(
    failed('   Compiling boring-sys\nthread panicked:\nUnable to find libclang: "couldn\'t find"\n'),
  ).toBe("quiche's TLS cannot be built without libclang: install it (Debian: apt install libclang-dev)");
  expect(failed('   Compiling quiche\nerror[E0432]: unresolved import\n --> src/main.rs\n')).toBe(
    "the lab's server on quiche cannot be built: error[E0432]: unresolved import",
  );
  expect(failed('')).toBe("the lab's server on quiche cannot be built: Command failed: cargo build");
});
