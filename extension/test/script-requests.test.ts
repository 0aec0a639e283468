import { describe, expect, test } from 'vitest';
import { MAX_ENTRIES, MAX_SCRIPT_REQUEST_CHARS, MAX_TEXT_CHARS } from '../src/recorder/limits.ts';
import { frameTimingsSchema } from '../src/recorder/page-timings.ts';
import { readScriptRequests, ScriptRequestLog } from '../src/recorder/script-requests.ts';

const BASE = 'https://page.test/dir/';

describe('readScriptRequests', () => {
  test('reads the scripts of a V8 stack, innermost first, without the hook’s own and unnamed frames', () => {
    const stack = [
      'Error',
      '    at Object.apply (native:40:5)',
      '    at load (https://cdn.test/lib.js?v=1:10:7)',
      '    at async https://page.test/app.js#x:1:2',
      '    at eval (eval at run (https://page.test/app.js:3:4), <anonymous>:1:1)',
      '    at https://cdn.test/lib.js?v=1:99:1',
    ].join('\n');
    expect(readScriptRequests(`fetch\ndata.json#top\n${stack}`, BASE, 12.5)).toEqual([
      {
        kind: 'fetch',
        url: 'https://page.test/dir/data.json',
        atMs: 12.5,
        scripts: ['https://cdn.test/lib.js?v=1', 'https://page.test/app.js'],
      },
    ]);
  });

  test('reads a SpiderMonkey stack', () => {
    const [request] = readScriptRequests(
      'src\n/x.png\nload@https://page.test/a.js:1:2\n@https://page.test/b.js:3:4',
      BASE,
      0,
    );
    expect(request?.scripts).toEqual(['https://page.test/a.js', 'https://page.test/b.js']);
  });

  test('returns every candidate of a srcset', () => {
    const urls = readScriptRequests(
      'srcset\na.png 1x, /b,c.png 2x,https://cdn.test/d.png 100w\n',
      BASE,
      0,
    ).map((a) => a.url);
    expect(urls).toEqual([
      'https://page.test/dir/a.png',
      'https://page.test/b,c.png',
      'https://cdn.test/d.png',
    ]);
  });

  test.each([
    ['no text', { toString: (): string => 'fetch\n/x\n' }],
    ['an unknown kind', 'eval\n/x\n'],
    ['no URL', 'fetch\n\n'],
    ['a data URL', 'src\ndata:image/png;base64,AA\n'],
    ['a URL that its escapes make too long', `fetch\n/${'é'.repeat(MAX_TEXT_CHARS / 4)}\n`],
    ['not a URL', 'src\nhttp://[\n'],
    ['a text beyond the limit', `fetch\n/x\n${'y'.repeat(3 * MAX_TEXT_CHARS)}`],
  ])('ignores %s', (_name, message) => {
    expect(readScriptRequests(message, BASE, 0)).toEqual([]);
  });
});

describe('ScriptRequestLog', () => {
  const { scriptRequests: schema } = frameTimingsSchema.shape;

  test('keeps at most as many requests as the worker accepts, even if one message names many URLs', () => {
    const list = new ScriptRequestLog();
    for (let i = 1; i < MAX_ENTRIES; i++) list.addMessage(`fetch\n/${i}\n`, BASE, i);
    expect(list.isFull).toBe(false);
    list.addMessage('srcset\n/a 1x, /b 2x, /c 3x\n', BASE, 1);
    expect(list.isFull).toBe(true);
    expect(list.requests).toHaveLength(MAX_ENTRIES);
    expect(list.requests.at(-1)?.url).toBe('https://page.test/a');
    expect(schema.safeParse(list.requests).success).toBe(true);
  });

  test('keeps at most as many characters as fit into one message', () => {
    const list = new ScriptRequestLog();
    for (let i = 0; i < MAX_ENTRIES; i++)
      list.addMessage(`fetch\n/${'x'.repeat(MAX_TEXT_CHARS - 100)}${i}\n`, BASE, i);
    expect(list.isFull).toBe(true);
    expect(JSON.stringify(list.requests).length).toBeLessThan(1.1 * MAX_SCRIPT_REQUEST_CHARS);
    expect(list.requests.length).toBeGreaterThan(1000);
  });
});
