/** How the helper's packages are installed, as `npm run package` names them. */

export interface Installation {
  /** The systems that it is for. */
  system: string;
  commands: string[];
}

/**
 * The ways to install the helper on the system of a browser with this user agent: none where it has no package. Every command
 * works without a network.
 */
export function listInstallations(version: string, userAgent: string): Installation[] {
  if (/Windows|Mac OS X/.test(userAgent)) return [];
  const architecture = /aarch64|arm64/.test(userAgent) ? 'arm64' : 'amd64';
  const folder = `hopwise-host-${version}-linux-${architecture}`;
  return [
    {
      system: 'Debian 12',
      commands: [`sudo apt install ./hopwise-host_${version}_${architecture}.deb`],
    },
    {
      system: 'Other Linux systems, without root',
      commands: [`tar -xzf ${folder}.tar.gz`, `./${folder}/install.sh`],
    },
  ];
}
