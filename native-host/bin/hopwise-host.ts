#!/usr/bin/env node
/**
 * The `hopwise-host` command. Started by a browser, it speaks native messaging instead.
 *
 * Browsers start it for a question or two while a person waits for a page: what is not needed is not loaded, and what is loaded was
 * compiled by an earlier run.
 */
import { keepCompiledCode } from '../src/base/compiled-code.ts';
import { allowConcurrentLookups } from '../src/dns/concurrent-lookups.ts';
import { launchedByBrowser } from '../src/install/launch.ts';

allowConcurrentLookups();
if (launchedByBrowser(process.argv.slice(2))) {
  keepCompiledCode();
  await (await import('./messaging.ts')).serveBrowser();
} else await (await import('./commands.ts')).runCommand();
