/** Parsers of systems' proxy settings. Each returns where a proxy is set, for the user, or ''. */

/** Those that Chromium reads, in lower and upper case; Firefox ignores `auto_proxy` and `socks_server`. */
const VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'auto_proxy', 'socks_server'];

export function inEnvironment(environment: Readonly<Record<string, string | undefined>>): string {
  const names = VARIABLES.flatMap((name) => [name, name.toUpperCase()]);
  const named = names.find((name) => environment[name]);
  return named ? `the environment variable ${named}` : '';
}

/** @param mode what `gsettings get org.gnome.system.proxy mode` prints: `'none'`, `'manual'` or `'auto'` */
export function inGnome(mode: string): string {
  return /^'(manual|auto)'$/.test(mode.trim()) ? 'GNOME’s network settings' : '';
}

/** @param text of `kioslaverc`; its `ProxyType` is 0 for none, 1 manual, 2 a PAC file, 3 detection, 4 the environment's */
export function inKde(text: string): string {
  const group = /^\[Proxy Settings\][^\S\n]*\n([^[]*)/m.exec(text)?.[1] ?? '';
  return /^ProxyType=[123]\s*$/m.test(group) ? 'KDE’s network settings' : '';
}

/** @param text what `scutil --proxy` prints */
export function inMacos(text: string): string {
  const kinds =
    /^\s*(HTTPEnable|HTTPSEnable|SOCKSEnable|ProxyAutoConfigEnable|ProxyAutoDiscoveryEnable) : 1\s*$/m;
  return kinds.test(text) ? 'macOS’s network settings' : '';
}

/** Bits of the ninth byte of `DefaultConnectionSettings`: a proxy, a PAC file, detection. */
const WINDOWS_PROXY_FLAGS = 0x02 | 0x04 | 0x08;

/**
 * @param settings what `reg query` prints of Internet Settings
 * @param connection and of their `DefaultConnectionSettings`, '' where there are none
 */
export function inWindows(settings: string, connection: string): string {
  const words = 'Windows’ proxy settings';
  if (/^\s*ProxyEnable\s+REG_DWORD\s+0x0*1\s*$/m.test(settings)) return words;
  if (/^\s*AutoConfigURL\s+REG_SZ\s+\S/m.test(settings)) return words;
  const bytes = /DefaultConnectionSettings\s+REG_BINARY\s+([0-9A-F]+)/i.exec(connection)?.[1] ?? '';
  return Number.parseInt(bytes.slice(16, 18) || '0', 16) & WINDOWS_PROXY_FLAGS ? words : '';
}
