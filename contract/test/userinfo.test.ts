import { expect, it } from 'vitest';
import { removeUserinfo, removeUserinfoInText } from '../src/userinfo.ts';

it.each([
  ['https://user:secret@www.example/a?b@c#d', 'https://www.example/a?b@c#d'],
  ['https://user@www.example', 'https://www.example'],
  ['https://a@b:secret@www.example/', 'https://www.example/'],
  ['HTTPS://user:secret@[2001:db8::1]:8443/', 'HTTPS://[2001:db8::1]:8443/'],
  ['https://www.example/@user', 'https://www.example/@user'],
  [
    'https://www.example?u=https://user:secret@other.example/',
    'https://www.example?u=https://user:secret@other.example/',
  ],
  ['data:,user:secret@www.example', 'data:,user:secret@www.example'],
])('removes user name and password of %s', (url, without) => {
  expect(removeUserinfo(url)).toBe(without);
});

it.each([
  ['found "https://user:secret@www.example/"', 'found "https://www.example/"'],
  ['http://u:p@a.example/x@y and https://u:p@b.example', 'http://a.example/x@y and https://b.example'],
  ['https:user:secret@www.example', 'https:www.example'],
  ['https:\\\\user:secret@www.example', 'https:\\\\www.example'],
  ['https:https://user:secret@www.example', 'https:https://www.example'],
  ['https://user:http:secret@www.example/', 'https://www.example/'],
  ['see (https:user:secret@a@www.example)', 'see (https:www.example)'],
  ['xhttps://user@www.example', 'xhttps://user@www.example'],
  ['mail to user@www.example, see https://www.example', 'mail to user@www.example, see https://www.example'],
])('removes them in the text %s', (text, without) => {
  expect(removeUserinfoInText(text)).toBe(without);
});

it.each(['https:', 'https:/', '@', 'https://a:b@', '\\', 'a'])(
  'takes linear time for repetitions of %s',
  (part) => {
    const began = process.cpuUsage();
    removeUserinfoInText(part.repeat(200_000));
    const { user, system } = process.cpuUsage(began);
    // Quadratic time would be ten minutes.
    expect((user + system) / 1e6).toBeLessThan(20);
  },
);
