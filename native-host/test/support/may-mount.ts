import { execFileSync } from 'node:child_process';

/** Whether this user may give a process a resolv.conf of its own. */
export function mayMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '--bind', '/etc/hostname', '/etc/resolv.conf'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
