/** How the helper's packages are installed, as `npm run package` names them. */

export interface Installation {
  /** The systems that it is for. */
  system: string;
  /** What to know before; '' for nothing. */
  note: string;
  commands: string[];
}

/** The ways to install the helper on the system of a browser with this user agent. Every command works without a network. */
export function listInstallations(version: string, userAgent: string): Installation[] {
  const untried = 'This installer has not been tried on a real machine yet. It needs Node.js 24 or later.';
  if (userAgent.includes('Windows')) {
    const folder = `hopwise-host-${version}-windows`;
    const script = `powershell -ExecutionPolicy Bypass -File .\\${folder}\\install.ps1`;
    return [{ system: 'Windows', note: untried, commands: [`tar -xf ${folder}.zip`, script] }];
  }
  if (userAgent.includes('Mac OS X'))
    return [unpackAndRun('macOS', untried, `hopwise-host-${version}-macos`)];
  const architecture = /aarch64|arm64/.test(userAgent) ? 'arm64' : 'amd64';
  return [
    {
      system: 'Debian 12',
      note: '',
      commands: [`sudo apt install ./hopwise-host_${version}_${architecture}.deb`],
    },
    unpackAndRun('Other Linux systems, without root', '', `hopwise-host-${version}-linux-${architecture}`),
  ];
}

function unpackAndRun(system: string, note: string, folder: string): Installation {
  return { system, note, commands: [`tar -xzf ${folder}.tar.gz`, `./${folder}/install.sh`] };
}
