/** What the stores call remote code: scripts that are not in the package. */

/** Ways to run a script that the package does not hold. Each stands for code, not for text in a message. */
const REMOTE_CODE: readonly (readonly [string, RegExp])[] = [
  ['a script from another server', /<script[^>]*\bsrc\s*=\s*["']?(?:https?:)?\/\//i],
  ['an import from another server', /\b(?:import|importScripts)\s*\(?\s*["'`](?:https?:)?\/\//],
  ['eval', /(?<![\w.$])eval\s*\(/],
  ['the Function constructor', /\bnew\s+Function\s*\(/],
];

/** What is remote code in a file's text; empty for nothing. */
export function findRemoteCode(text: string): string[] {
  return REMOTE_CODE.filter(([, pattern]) => pattern.test(text)).map(([what]) => what);
}
