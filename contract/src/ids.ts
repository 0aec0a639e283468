/** The ids of extension and helper. */

/** Name under which the host is registered with browsers. */
export const HOST_NAME = 'org.hopwise.host';

/** Chromium's id of the extension, fixed by the key in its manifest. */
export const EXTENSION_ID = 'ndccfkpfonmfcfpmfaeeebeikhchicfa';

/** Firefox's id of the extension, as in its manifest. */
export const FIREFOX_EXTENSION_ID = 'hopwise@hopwise.org';
