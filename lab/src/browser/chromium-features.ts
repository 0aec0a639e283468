/**
 * Features of Chromium that load internal pages for each new window, and so for each measured load: the suggestion list below
 * the address bar. They take 1 to 1.5 s of processor time while the page is loading.
 */
const OWN_PAGES = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];

/** What playwright-core disables. It is repeated here because Chromium takes only the last of several such switches. */
const PLAYWRIGHTS = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'TcpPortRandomizationWin',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'msForceBrowserSignIn',
  'msEdgeUpdateLaunchServicesPreferredVersion',
];

/** For a Chromium that playwright-core starts. */
export const DISABLED_FEATURES = `--disable-features=${[...PLAYWRIGHTS, ...OWN_PAGES].join(',')}`;
