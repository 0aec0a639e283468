/** How the helper's packages are installed, as `npm run package` names them. */

import { t } from '../language/translate.ts';

interface Installation {
  /** The systems that it is for. */
  system: string;
  commands: string[];
}

/**
 * The ways to install the helper on the system of a browser with this user agent; none for a system on which it has not been tried.
 * Every command works without a network.
 */
export function listInstallations(version: string, userAgent: string): Installation[] {
  if (!userAgent.includes('Linux') || userAgent.includes('Android')) return [];
  const architecture = /aarch64|arm64/.test(userAgent) ? 'arm64' : 'amd64';
  const folder = `hopwise-host-${version}-linux-${architecture}`;
  return [
    {
      system: 'Debian 12',
      commands: [`sudo apt install ./hopwise-host_${version}_${architecture}.deb`],
    },
    {
      system: t('installLinux'),
      commands: [`tar -xzf ${folder}.tar.gz`, `./${folder}/install.sh`],
    },
  ];
}
