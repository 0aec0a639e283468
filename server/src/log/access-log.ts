/** nginx's access log in the form that the agent reads. */

/** The variables of nginx that a line has. None says what was requested; how the transfer went, the kernel tells. */
const VARIABLES = ['msec', 'remote_addr', 'remote_port', 'connection_time', 'bytes_sent'] as const;

/** What nginx's configuration needs, for its block `http`. */
export const LOG_FORMAT = [
  'log_format hopwise escape=json',
  `  '{${VARIABLES.map((name) => `"${name}":"$${name}"`).join(',')}}';`,
  'access_log /var/log/nginx/hopwise.log hopwise;',
].join('\n');

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
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof parsed !== 'object' || parsed === null) return null;
  const own = parsed as Record<string, unknown>;
  const { remote_addr: address } = own;
  const port = figure(own.remote_port, 65_535);
  const endMs = 1000 * figure(own.msec, 1e11);
  const connectionMs = 1000 * figure(own.connection_time, 1e9);
  const bytes = figure(own.bytes_sent, 1e15);
  // NaN where any of them is none.
  if (typeof address !== 'string' || address.length > 45) return null;
  if (Number.isNaN(port + endMs + connectionMs + bytes)) return null;
  return { address, port, connectedMs: endMs - connectionMs, bytes };
}

/** A number of the log, from 0 to a limit; NaN for anything else. */
function figure(value: unknown, max: number): number {
  if (typeof value === 'string' && !/^\d+(\.\d+)?$/.test(value)) return Number.NaN;
  const number = typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN;
  return number >= 0 && number <= max ? number : Number.NaN;
}
