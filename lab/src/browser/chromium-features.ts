/**
 * Pages of Chromium's own that it loads for each new window, and so for each measured load: the list below its address bar. They
 * take 1 to 1.5 s of processor time, in the moments in which the page is loaded.
 */
const OWN_PAGES = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];

/** What playwright-core disables: of two such switches Chromium takes the last alone. */
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
