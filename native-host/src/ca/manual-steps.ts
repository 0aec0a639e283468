/** How a person adds the root to a browser by hand, where no command does: steps in the browser alone. */

/** @param file path of the root. */
export function trustSteps(file: string): string[] {
  return [
    `Chromium, Chrome, Edge, Brave: open chrome://certificate-manager, Local certificates, Installed by you, Trusted Certificates: Import, and choose ${file}`,
    `Firefox: Settings, Privacy & Security, View Certificates, Authorities: Import, choose ${file} and tick "Trust this CA to identify websites"`,
  ];
}

/** @param name what the root is called in the browser's list. */
export function untrustSteps(name: string): string[] {
  return [
    `Chromium, Chrome, Edge, Brave: open chrome://certificate-manager, Local certificates, Installed by you, and delete "${name}"`,
    `Firefox: Settings, Privacy & Security, View Certificates, Authorities, and delete "${name}"`,
  ];
}
