/** The sockets on which the hosts of this user's browsers listen for the command line, each named after its process id. */
import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stateDirectory } from '../base/paths.ts';

const FOLDER_MODE = 0o700;
const OTHERS = 0o077;
const SOCKET_NAME = /^([1-9]\d{0,9})\.sock$/;
/** Length of a socket's path on macOS without the terminating zero; Linux allows four more (`sun_path` in unix(7)). */
const MAX_PATH_BYTES = 103;

export interface HostSocket {
  pid: number;
  path: string;
}

export function controlFolder(): string {
  return join(stateDirectory(), 'control');
}

/**
 * Creates the folder and returns the path of process `pid`'s socket. Sockets of ended processes are removed.
 *
 * @throws Error in one line when a socket that only this user can reach is not possible
 */
export function prepareSocket(pid: number, folder: string): string {
  // Windows has named pipes instead, which every user who knows their name can open.
  if (!process.getuid) throw new Error('this system has no such sockets');
  const path = join(folder, `${pid}.sock`);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new Error(`${path} is longer than the ${MAX_PATH_BYTES} bytes of a socket's path`);
  }
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  checkFolder(folder);
  for (const socket of hostSockets(folder)) {
    if (socket.pid === pid || !isRunning(socket.pid)) rmSync(socket.path, { force: true });
  }
  return path;
}

/** @throws Error unless `folder` is a folder that only this user can access. */
export function checkFolder(folder: string): void {
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) throw new Error(`${folder} is not a folder`);
  if (stats.uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user`);
  if ((stats.mode & OTHERS) !== 0) throw new Error(`${folder} is open to other users`);
}

/** Sockets of hosts, including those of hosts that have ended. */
export function hostSockets(folder: string = controlFolder()): HostSocket[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw fault;
  }
  return names.flatMap((name) => {
    const [, pid] = SOCKET_NAME.exec(name) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), path: join(folder, name) }];
  });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
