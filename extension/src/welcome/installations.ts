/** How the helper's packages are installed, as `npm run package` names them. */

import { t } from '../language/translate.ts';

interface Installation {
  /** The systems that it is for. */
  system: string;
  commands: string[];
}

/**
 * The ways to install the helper on the system of a browser with this user agent. Every command works without a network.
 */
export function listInstallations(version: string, userAgent: string): Installation[] {
  if (userAgent.includes('Windows')) {
    const folder = `hopwise-host-${version}-windows`;
    return [
      {
        system: t('installWindows'),
        commands: [
          `Expand-Archive ${folder}.zip`,
          `powershell -ExecutionPolicy Bypass -File ${folder}\\install.ps1`,
        ],
      },
    ];
  }
  if (userAgent.includes('Macintosh')) {
    const folder = `hopwise-host-${version}-macos`;
    return [
      {
        system: t('installMac'),
        commands: [`tar -xzf ${folder}.tar.gz`, `./${folder}/install.sh`],
      },
    ];
  }
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
