/** The places where browsers look for native-messaging manifests. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { HOST_NAME } from '@hopwise/contract';
import { configDirectory, dataDirectory } from '../base/paths.ts';

export interface Browser {
  id: 'chromium' | 'chrome' | 'edge' | 'brave' | 'firefox';
  name: string;
  /** Profile folders: any of them shows that this user has the browser. */
  profileFolders: string[];
  /** Path of the manifest. */
  manifestFile: string;
  /** Path of the manifest for all users, which a Debian package installs; '' where there is none. */
  systemManifestFile: string;
  /** Key under HKEY_CURRENT_USER that names the manifest on Windows, '' elsewhere. */
  registryKey: string;
}

const MANIFEST = `${HOST_NAME}.json`;
const PER_USER = { systemManifestFile: '', registryKey: '' };

/** The browsers that the host can be registered with, for this user. */
export function browsers(platform: NodeJS.Platform = process.platform): Browser[] {
  if (platform === 'win32') return windows();
  return platform === 'darwin' ? macos() : linux();
}

function linux(): Browser[] {
  const config = configDirectory();
  const chromium = (id: Browser['id'], name: string, folder: string, systemFolder = ''): Browser => ({
    id,
    name,
    profileFolders: [join(config, folder)],
    manifestFile: join(config, folder, 'NativeMessagingHosts', MANIFEST),
    ...PER_USER,
    systemManifestFile: systemFolder && join(systemFolder, 'native-messaging-hosts', MANIFEST),
  });
  return [
    chromium('chromium', 'Chromium', 'chromium', '/etc/chromium'),
    chromium('chrome', 'Google Chrome', 'google-chrome', '/etc/opt/chrome'),
    chromium('edge', 'Microsoft Edge', 'microsoft-edge', '/etc/opt/edge'),
    chromium('brave', 'Brave', join('BraveSoftware', 'Brave-Browser')),
    {
      id: 'firefox',
      name: 'Firefox',
      // Firefox 153 has moved its profiles, and still looks for manifests in the first folder only.
      profileFolders: [
        join(homedir(), '.mozilla'),
        join(config, 'mozilla', 'firefox'),
        join(homedir(), 'snap', 'firefox'),
      ],
      manifestFile: join(homedir(), '.mozilla', 'native-messaging-hosts', MANIFEST),
      ...PER_USER,
      systemManifestFile: join('/usr/lib/mozilla/native-messaging-hosts', MANIFEST),
    },
  ];
}

function macos(): Browser[] {
  const support = join(homedir(), 'Library', 'Application Support');
  const browser = (id: Browser['id'], name: string, folder: string, manifests = folder): Browser => ({
    id,
    name,
    profileFolders: [join(support, folder)],
    manifestFile: join(support, manifests, 'NativeMessagingHosts', MANIFEST),
    ...PER_USER,
  });
  const chrome = join('Google', 'Chrome');
  return [
    browser('chromium', 'Chromium', 'Chromium'),
    browser('chrome', 'Google Chrome', chrome),
    browser('edge', 'Microsoft Edge', 'Microsoft Edge'),
    // Brave looks where Chrome does (github.com/keepassxreboot/keepassxc/pull/13429).
    browser('brave', 'Brave', join('BraveSoftware', 'Brave-Browser'), chrome),
    browser('firefox', 'Firefox', 'Firefox', 'Mozilla'),
  ];
}

function windows(): Browser[] {
  const local = process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  const roaming = process.env.APPDATA ?? join(homedir(), 'AppData', 'Roaming');
  const browser = (id: Browser['id'], name: string, profileFolder: string, vendor: string): Browser => ({
    id,
    name,
    profileFolders: [profileFolder],
    manifestFile: join(dataDirectory(), 'manifests', id, MANIFEST),
    ...PER_USER,
    registryKey: `HKCU\\Software\\${vendor}\\NativeMessagingHosts\\${HOST_NAME}`,
  });
  const chrome = browser('chrome', 'Google Chrome', join(local, 'Google', 'Chrome'), 'Google\\Chrome');
  return [
    browser('chromium', 'Chromium', join(local, 'Chromium'), 'Chromium'),
    chrome,
    browser('edge', 'Microsoft Edge', join(local, 'Microsoft', 'Edge'), 'Microsoft\\Edge'),
    // Brave reads Chrome's key, as most browsers built from Chromium do.
    {
      ...chrome,
      id: 'brave',
      name: 'Brave',
      profileFolders: [join(local, 'BraveSoftware', 'Brave-Browser')],
    },
    browser('firefox', 'Firefox', join(roaming, 'Mozilla', 'Firefox'), 'Mozilla'),
  ];
}

/** A browser with a profile folder of its own: Chromium looks for manifests inside it. */
export function profileBrowser(userDataDirectory: string): Browser {
  return {
    id: 'chromium',
    name: `Chromium with ${userDataDirectory}`,
    profileFolders: [userDataDirectory],
    manifestFile: join(userDataDirectory, 'NativeMessagingHosts', MANIFEST),
    ...PER_USER,
  };
}
