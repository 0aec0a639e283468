import { runProgram } from '../util/run-program.ts';

/** Marks the agent's routes; no routing daemon uses this number (rtnetlink(7), /etc/iproute2/rt_protos). */
export const PROTOCOL = 199;
/** Right before the rule for the main table, so that the administrator's own rules come first. */
const RULE_PRIORITY = 32_765;
const FAMILIES = ['-4', '-6'] as const;

const ip = (...words: (string | number)[]): Promise<string> => runProgram(['ip', ...words.map(String)]);

export interface RoutingTables {
  /** The main table's routes by family, one a line. A machine without IPv6 has none of it. */
  main: { 4: string; 6: string };
  /** Prefixes that have a route in the agent's table: the kernel removes those of a link that goes down. */
  own: ReadonlySet<string>;
}

/** @param table the agent's */
export async function readTables(table: number): Promise<RoutingTables> {
  const [v4, v6] = await Promise.all(FAMILIES.map(readRoutes));
  const mainOf = (lines: readonly string[]): string =>
    lines.filter((line) => !/ table \d+ /.test(`${line} `)).join('\n');
  const own = [...v4!, ...v6!].filter((line) => isIn(table, line)).map((line) => line.split(' ')[0]!);
  return { main: { 4: mainOf(v4!), 6: mainOf(v6!) }, own: new Set(own) };
}

/** Routes of all tables, a line each. Lines of the main table alone name no table. */
async function readRoutes(family: string): Promise<string[]> {
  return (await ip(family, '-N', '-o', 'route', 'show', 'table', 'all')).split('\n');
}

const isIn = (table: number, line: string): boolean => ` ${line} `.includes(` table ${table} `);

/** Changes routes of the agent's table. @param changes lines of `ip -batch` */
export async function changeRoutes(changes: readonly string[]): Promise<void> {
  await runProgram(['ip', '-batch', '-'], `${changes.join('\n')}\n`);
}

/** Routes of a table, a line each; none where it does not exist. */
async function routesOf(family: string, table: number): Promise<string[]> {
  return (await readRoutes(family)).filter((line) => isIn(table, line));
}

const isOurs = (line: string): boolean => ` ${line} `.includes(` proto ${PROTOCOL} `);

const ruleOf = (table: number) => ['priority', RULE_PRIORITY, 'lookup', table] as const;

async function hasRule(family: string, table: number): Promise<boolean> {
  const rules = await ip(family, '-N', 'rule', 'show');
  return new RegExp(`^${RULE_PRIORITY}:\\s+from all lookup ${table}\\b`, 'm').test(rules);
}

/** Has the kernel look into the agent's table. @throws Error where the table holds routes of others */
export async function beginRoutes(table: number): Promise<void> {
  for (const family of FAMILIES) {
    if (!(await routesOf(family, table)).every(isOurs))
      throw new Error(`routing table ${table} has routes of others: name an empty one by --table`);
    if (!(await hasRule(family, table))) await ip(family, 'rule', 'add', ...ruleOf(table));
  }
}

/** Takes back the rule and all routes of the agent, also those that a killed one left. @returns how many routes there were */
export async function takeBackRoutes(table: number): Promise<number> {
  let count = 0;
  for (const family of FAMILIES) {
    if (await hasRule(family, table)) await ip(family, 'rule', 'del', ...ruleOf(table));
    const own = (await routesOf(family, table)).filter(isOurs).length;
    if (own > 0) await ip(family, 'route', 'flush', 'table', table, 'proto', PROTOCOL);
    count += own;
  }
  return count;
}
