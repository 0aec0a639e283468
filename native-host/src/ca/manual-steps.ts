/** Steps in the browser to add the root by hand, where no command can do it. */

/** @param file path of the root. */
export function trustSteps(file: string): string[] {
  return [
    `Chromium, Chrome, Edge, Brave: open chrome://certificate-manager, Local certificates, Installed by you, Trusted Certificates: Import, and choose ${file}`,
    `Firefox: Settings, Privacy & Security, View Certificates, Authorities: Import, choose ${file} and tick "Trust this CA to identify websites"`,
  ];
}

/** @param name the root's name in the browser's list. */
export function untrustSteps(name: string): string[] {
  return [
    `Chromium, Chrome, Edge, Brave: open chrome://certificate-manager, Local certificates, Installed by you, and delete "${name}"`,
    `Firefox: Settings, Privacy & Security, View Certificates, Authorities, and delete "${name}"`,
  ];
}
