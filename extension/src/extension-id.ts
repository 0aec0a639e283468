/**
 * Id of the extension in Chromium: fixed by `key` in manifest.json, as the first 128 bits of the
 * key's SHA-256 written with the letters a to p. Native-host manifests name it in `allowed_origins`.
 */
export const EXTENSION_ID = 'ndccfkpfonmfcfpmfaeeebeikhchicfa';
