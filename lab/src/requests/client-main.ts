/**
 * The client of the sessions: `client-main HELPER ROOT…`, the helper's script and files with what a browser trusts. Runs in the lab's namespaces with a helper of its
 * own. Reads an order a line on standard input, and writes when the network is to change, and the result; ends with its input.
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { firstLine } from '@hopwise/contract';
import type * as z from 'zod';
import { Helper } from './helper.ts';
import { type clientLineSchema, sessionOrderSchema } from './session.ts';
import { SessionClient } from './session-client.ts';

const [script = '', ...files] = process.argv.slice(2);
const roots = files.map((file) => readFileSync(file, 'utf8'));
const write = (line: z.infer<typeof clientLineSchema>) => process.stdout.write(`${JSON.stringify(line)}\n`);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
let helper = new Helper(script);
for (let line = await lines.next(); !line.done; line = await lines.next()) {
  try {
    const order = sessionOrderSchema.parse(JSON.parse(line.value));
    const result = await new SessionClient(helper, roots).run(order, async () => {
      write({ changes: true });
      await lines.next();
    });
    write({ result });
  } catch (error) {
    // What one session has broken, the next one does not inherit.
    await helper.end();
    helper = new Helper(script);
    write({ error: firstLine(error) });
  }
}
await helper.end();
process.exit();
