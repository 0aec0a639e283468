/** Where each browser looks for native-messaging manifests. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { HOST_NAME } from '@hopwise/native-host/messages';
import { configDirectory, dataDirectory } from '../paths.ts';

export interface Browser {
  id: 'chromium' | 'chrome' | 'edge' | 'brave' | 'firefox';
  name: string;
  /** The folder whose existence shows that this user has the browser. */
  profileFolder: string;
  /** Where the manifest is written. */
  manifestFile: string;
  /** Key under HKEY_CURRENT_USER that names the manifest on Windows, '' elsewhere. */
  registryKey: string;
}

const MANIFEST = `${HOST_NAME}.json`;

/** The browsers that the host can be registered with, for this user and platform. */
export function browsers(): Browser[] {
  if (process.platform === 'win32') return windows();
  return process.platform === 'darwin' ? macos() : linux();
}

function linux(): Browser[] {
  const config = configDirectory();
  const chromium = (id: Browser['id'], name: string, folder: string): Browser => ({
    id,
    name,
    profileFolder: join(config, folder),
    manifestFile: join(config, folder, 'NativeMessagingHosts', MANIFEST),
    registryKey: '',
  });
  return [
    chromium('chromium', 'Chromium', 'chromium'),
    chromium('chrome', 'Google Chrome', 'google-chrome'),
    chromium('edge', 'Microsoft Edge', 'microsoft-edge'),
    chromium('brave', 'Brave', join('BraveSoftware', 'Brave-Browser')),
    {
      id: 'firefox',
      name: 'Firefox',
      profileFolder: join(homedir(), '.mozilla'),
      manifestFile: join(homedir(), '.mozilla', 'native-messaging-hosts', MANIFEST),
      registryKey: '',
    },
  ];
}

function macos(): Browser[] {
  const support = join(homedir(), 'Library', 'Application Support');
  const browser = (id: Browser['id'], name: string, folder: string): Browser => ({
    id,
    name,
    profileFolder: join(support, folder),
    manifestFile: join(support, folder, 'NativeMessagingHosts', MANIFEST),
    registryKey: '',
  });
  return [
    browser('chromium', 'Chromium', 'Chromium'),
    browser('chrome', 'Google Chrome', join('Google', 'Chrome')),
    browser('edge', 'Microsoft Edge', 'Microsoft Edge'),
    browser('brave', 'Brave', join('BraveSoftware', 'Brave-Browser')),
    { ...browser('firefox', 'Firefox', 'Mozilla'), profileFolder: join(support, 'Firefox') },
  ];
}

function windows(): Browser[] {
  const local = process.env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  const roaming = process.env.APPDATA ?? join(homedir(), 'AppData', 'Roaming');
  const browser = (id: Browser['id'], name: string, profileFolder: string, vendor: string): Browser => ({
    id,
    name,
    profileFolder,
    manifestFile: join(dataDirectory(), 'manifests', id, MANIFEST),
    registryKey: `HKCU\\Software\\${vendor}\\NativeMessagingHosts\\${HOST_NAME}`,
  });
  return [
    browser('chromium', 'Chromium', join(local, 'Chromium'), 'Chromium'),
    browser('chrome', 'Google Chrome', join(local, 'Google', 'Chrome'), 'Google\\Chrome'),
    browser('edge', 'Microsoft Edge', join(local, 'Microsoft', 'Edge'), 'Microsoft\\Edge'),
    browser('brave', 'Brave', join(local, 'BraveSoftware', 'Brave-Browser'), 'BraveSoftware\\Brave-Browser'),
    browser('firefox', 'Firefox', join(roaming, 'Mozilla', 'Firefox'), 'Mozilla'),
  ];
}

/** A browser with a profile folder of its own: Chromium looks for manifests inside it. */
export function profileBrowser(userDataDirectory: string): Browser {
  return {
    id: 'chromium',
    name: `Chromium with ${userDataDirectory}`,
    profileFolder: userDataDirectory,
    manifestFile: join(userDataDirectory, 'NativeMessagingHosts', MANIFEST),
    registryKey: '',
  };
}
