import type { ResourceType } from './recording.ts';

/** DevTools' and HAR's `_resourceType`. */
const BY_NAME = new Map<string, ResourceType>([
  ['document', 'document'],
  ['stylesheet', 'style'],
  ['css', 'style'],
  ['script', 'script'],
  ['js', 'script'],
  ['image', 'image'],
  ['font', 'font'],
  ['media', 'media'],
  ['xhr', 'fetch'],
  ['fetch', 'fetch'],
  ['eventsource', 'fetch'],
  ['ping', 'beacon'],
  ['beacon', 'beacon'],
]);

/** What a request is for, from whatever the recorder says: its own type, else the MIME type, else the URL's ending. */
export function resourceType(name: string | null, mimeType: string | null, url: string): ResourceType {
  const named = BY_NAME.get((name ?? '').toLowerCase());
  return named ?? byMimeType((mimeType ?? '').toLowerCase()) ?? byEnding(url) ?? 'other';
}

function byMimeType(mime: string): ResourceType | null {
  if (/^text\/html|xhtml/.test(mime)) return 'document';
  if (mime.startsWith('text/css')) return 'style';
  if (/javascript|ecmascript/.test(mime)) return 'script';
  if (mime.startsWith('image/')) return 'image';
  if (/^font\/|font-|ms-fontobject/.test(mime)) return 'font';
  if (/^(video|audio)\//.test(mime)) return 'media';
  if (/json|xml$/.test(mime)) return 'fetch';
  return null;
}

function byEnding(url: string): ResourceType | null {
  const ending = /\.([a-z0-9]{2,5})(?:[?#]|$)/i
    .exec(url.replace(/^https?:\/\/[^/]*/i, ''))?.[1]
    ?.toLowerCase();
  if (ending === undefined) return null;
  if (/^html?$/.test(ending)) return 'document';
  if (ending === 'css') return 'style';
  if (/^m?js$/.test(ending)) return 'script';
  if (/^(png|jpe?g|gif|webp|avif|svg|ico)$/.test(ending)) return 'image';
  if (/^(woff2?|ttf|otf|eot)$/.test(ending)) return 'font';
  if (/^(mp4|webm|mp3|ogg|m4a)$/.test(ending)) return 'media';
  return null;
}
