import type { Language } from '@hopwise/contract';

/**
 * The start of an HTML page up to its body; its policy forbids loading anything.
 *
 * @param title plain text without markup
 * @param scripts Content Security Policy source expressions of allowed scripts
 * @param language of the page's texts
 */
export function pageHead(
  title: string,
  style: string,
  scripts = "'none'",
  language: Language = 'en',
): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${scripts}; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${style}</style>
</head>`;
}
