import { readFileSync } from 'node:fs';
import { launcherCommand } from './launcher.ts';

/** The distribution by os-release(5), in lower case; empty where there is no such file. */
export function osRelease(): { id: string; codename: string } {
  let text = '';
  try {
    text = readFileSync('/etc/os-release', 'utf8');
  } catch {
    return { id: '', codename: '' };
  }
  const value = (key: string): string =>
    text.match(new RegExp(`^${key}="?([^"\\n]*)"?$`, 'm'))?.[1]?.toLowerCase() ?? '';
  return { id: value('ID'), codename: value('VERSION_CODENAME') };
}

/** Whether `setup` can make a private copy here. */
export function canSetUp(): boolean {
  const { id, codename } = osRelease();
  return process.platform === 'linux' && id === 'debian' && codename === 'bookworm';
}

/** One line: how to get a libcurl with HTTP/3 on this system. */
export function http3InstallHint(): string {
  if (canSetUp()) return `run: ${launcherCommand('setup')}`;
  const { id } = osRelease();
  if (process.platform === 'linux' && (id === 'debian' || id === 'ubuntu')) {
    return 'install libcurl3t64-gnutls 8.14 or later (Debian 13 has it): sudo apt install libcurl3t64-gnutls';
  }
  if (process.platform === 'darwin') return "install Homebrew's curl: brew install curl";
  if (process.platform === 'win32') {
    return 'unpack curl for Windows (curl.se/windows) and set HOPWISE_LIBCURL to its libcurl-x64.dll';
  }
  return 'install a libcurl built with HTTP/3 and set HOPWISE_LIBCURL to its path';
}
