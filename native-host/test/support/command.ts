import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/hopwise-host.ts', import.meta.url));

/** How texts name the command below where no launcher is installed. */
export const COMMAND = `${process.execPath} --conditions=source ${BIN}`;

/** The environment of a user whose home folder this is, with the libcurl that the run's set-up has found. */
export function homeEnvironment(home: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: '',
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
  };
}

/** Runs `hopwise-host` with these words, as the user whose home folder this is. */
export function hopwiseHost(
  home: string,
  words: string[],
  environment: NodeJS.ProcessEnv = {},
): { code: number | null; out: string; err: string } {
  const result = spawnSync(process.execPath, ['--conditions=source', BIN, ...words], {
    encoding: 'utf8',
    env: { ...homeEnvironment(home), ...environment },
  });
  return { code: result.status, out: result.stdout, err: result.stderr };
}

/** Runs it while this process goes on, for what needs its servers. */
export async function hopwiseHostAsync(
  home: string,
  words: string[],
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, ['--conditions=source', BIN, ...words], {
    env: homeEnvironment(home),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { code, out, err };
}
