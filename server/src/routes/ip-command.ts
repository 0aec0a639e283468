import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { firstLine } from '@hopwise/contract';

const run = promisify(execFile);

/** An error of `ip`, in one line. */
export class RouteError extends Error {
  override readonly name = 'RouteError';
}

/** Marks the agent's routes; no routing daemon uses this number (rtnetlink(7), /etc/iproute2/rt_protos). */
export const PROTOCOL = 199;
/** Right before the rule for the main table, so that the administrator's own rules come first. */
const RULE_PRIORITY = 32_765;
const FAMILIES = ['-4', '-6'] as const;

/** Runs `ip`. @throws RouteError */
async function ip(words: readonly string[]): Promise<string> {
  try {
    return (await run('ip', [...words], { maxBuffer: 2 ** 26 })).stdout;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new RouteError(`ip ${words.join(' ')}: ${stderr?.trim().split('\n')[0] || firstLine(error)}`);
  }
}

/** The main table's routes as JSON. A machine without IPv6 has none of it. */
export async function readMainTable(): Promise<{ 4: string; 6: string }> {
  const [v4, v6] = await Promise.all(
    FAMILIES.map((family) => ip([family, '-j', 'route', 'show', 'table', 'main'])),
  );
  return { 4: v4!, 6: v6! };
}

/** Changes routes of the agent's table. @param changes lines of `ip -batch` */
export function changeRoutes(changes: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('ip', ['-batch', '-'], { stdio: ['pipe', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => reject(new RouteError(`ip -batch: ${error.message}`)));
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new RouteError(`ip -batch: ${said.trim().split('\n')[0]}`)),
    );
    child.stdin.end(`${changes.join('\n')}\n`);
  });
}

export const replaceLine = (route: string, table: number): string =>
  `route replace ${route} table ${table} proto ${PROTOCOL}`;
export const deleteLine = (prefix: string, table: number): string =>
  `route del ${prefix} table ${table} proto ${PROTOCOL}`;

interface Found {
  isOurs: boolean;
}

/** Routes of a table; none where it does not exist. */
async function routesOf(family: string, table: number): Promise<Found[]> {
  try {
    const text = await ip([family, '-N', '-j', 'route', 'show', 'table', String(table)]);
    return (JSON.parse(text || '[]') as { protocol?: string }[]).map(({ protocol }) => ({
      isOurs: protocol === String(PROTOCOL),
    }));
  } catch (error) {
    if (error instanceof RouteError && error.message.includes('table does not exist')) return [];
    throw error;
  }
}

async function hasRule(family: string, table: number): Promise<boolean> {
  const rules = JSON.parse((await ip([family, '-N', '-j', 'rule', 'show'])) || '[]') as {
    priority: number;
    table?: string;
  }[];
  return rules.some((rule) => rule.priority === RULE_PRIORITY && rule.table === String(table));
}

/** Has the kernel look into the agent's table. @throws RouteError where the table holds routes of others */
export async function beginRoutes(table: number): Promise<void> {
  for (const family of FAMILIES) {
    const routes = await routesOf(family, table);
    if (routes.some(({ isOurs }) => !isOurs))
      throw new RouteError(`routing table ${table} has routes of others: name an empty one by --table`);
    if (await hasRule(family, table)) continue;
    await ip([family, 'rule', 'add', 'priority', String(RULE_PRIORITY), 'lookup', String(table)]);
  }
}

/** Takes back the rule and all routes of the agent, also those that a killed one left. @returns how many routes there were */
export async function takeBackRoutes(table: number): Promise<number> {
  let count = 0;
  for (const family of FAMILIES) {
    if (await hasRule(family, table))
      await ip([family, 'rule', 'del', 'priority', String(RULE_PRIORITY), 'lookup', String(table)]);
    const own = (await routesOf(family, table)).filter(({ isOurs }) => isOurs).length;
    if (own > 0) await ip([family, 'route', 'flush', 'table', String(table), 'proto', String(PROTOCOL)]);
    count += own;
  }
  return count;
}
