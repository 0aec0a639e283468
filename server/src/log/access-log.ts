/** nginx's access log in the form that the agent reads. */

/** The variables of nginx that a line has, with what each may hold. None says what was requested; how the transfer went, the kernel tells. */
const VARIABLES = {
  msec: String.raw`\d{1,11}\.\d{3}`,
  remote_addr: '[0-9a-fA-F:.]{2,45}',
  remote_port: String.raw`\d{1,5}`,
  connection_time: String.raw`\d{1,9}\.\d{3}`,
  bytes_sent: String.raw`\d{1,15}`,
} as const;

const joinVariables = (describe: (name: string, value: string) => string): string =>
  Object.entries(VARIABLES)
    .map(([name, value]) => `"${name}":"${describe(name, value)}"`)
    .join(',');

/** What nginx's configuration needs, for its block `http`. */
export const LOG_FORMAT = [
  'log_format hopwise escape=json',
  `  '{${joinVariables((name) => `$${name}`)}}';`,
  'access_log /var/log/nginx/hopwise.log hopwise;',
].join('\n');

const LINE = new RegExp(String.raw`^\{${joinVariables((_, value) => `(${value})`)}\}$`);

/** A request, as nginx logs it at its end. */
export interface AccessLogEntry {
  address: string;
  port: number;
  /** When nginx accepted the connection, Unix milliseconds. */
  connectedMs: number;
  bytes: number;
}

/**
 * Reads a line.
 *
 * @returns null for what is not one of `LOG_FORMAT`
 */
export function parseLogLine(line: string): AccessLogEntry | null {
  const [, end, address, port, connection, bytes] = LINE.exec(line) ?? [];
  if (address === undefined) return null;
  const connectedMs = Math.round(1000 * (Number(end) - Number(connection)));
  return { address, port: Number(port), connectedMs, bytes: Number(bytes) };
}
