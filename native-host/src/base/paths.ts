import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** A variable of the XDG base directory specification, which ignores relative values. */
function xdg(variable: string, fallback: string): string {
  const value = process.env[variable];
  return value && isAbsolute(value) ? value : join(homedir(), fallback);
}

function windowsData(): string {
  return process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
}

/** The folder of the launcher and the private libcurl. */
export function dataDirectory(): string {
  return process.platform === 'win32'
    ? join(windowsData(), 'hopwise')
    : join(xdg('XDG_DATA_HOME', join('.local', 'share')), 'hopwise');
}

/**
 * The folder of an installed package, such as `/usr/lib/hopwise`, as its launcher names it: it has the launcher itself and a
 * libcurl. '' in a checkout.
 */
export function packageFolder(): string {
  return process.env.HOPWISE_PACKAGE ?? '';
}

/** The folder of the log. */
export function stateDirectory(): string {
  return process.platform === 'win32'
    ? join(windowsData(), 'hopwise', 'state')
    : join(xdg('XDG_STATE_HOME', join('.local', 'state')), 'hopwise');
}

/** Where browsers on Linux keep their profiles. */
export function configDirectory(): string {
  return xdg('XDG_CONFIG_HOME', '.config');
}
