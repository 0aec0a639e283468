import type { ResourceType } from '@hopwise/contract';

/** Types of DevTools and WebPageTest, and of HAR's `_resourceType`, in lower case. */
const BY_NAME = new Map<string, ResourceType>([
  ['document', 'document'],
  ['stylesheet', 'style'],
  ['css', 'style'],
  ['script', 'script'],
  ['js', 'script'],
  ['image', 'image'],
  ['font', 'font'],
  ['media', 'media'],
  ['texttrack', 'media'],
  ['xhr', 'fetch'],
  ['fetch', 'fetch'],
  ['preflight', 'fetch'],
  ['eventsource', 'fetch'],
  ['ping', 'beacon'],
  ['beacon', 'beacon'],
  ['cspviolationreport', 'beacon'],
  ['csp-violation-report', 'beacon'],
  ['prefetch', 'other'],
  ['manifest', 'other'],
  ['websocket', 'other'],
]);

/** Destinations of the Fetch standard, as in the `Sec-Fetch-Dest` header. */
const BY_DESTINATION = new Map<string, ResourceType>([
  ['document', 'document'],
  ['iframe', 'iframe'],
  ['frame', 'iframe'],
  ['style', 'style'],
  ['script', 'script'],
  ['worker', 'script'],
  ['sharedworker', 'script'],
  ['image', 'image'],
  ['font', 'font'],
  ['audio', 'media'],
  ['video', 'media'],
  ['track', 'media'],
  ['empty', 'fetch'],
  ['report', 'beacon'],
  ['manifest', 'other'],
]);

/** The type that a recorder or the request's own header states; null when neither does. */
export function namedType(name: string | null, destination: string | null): ResourceType | null {
  return (
    BY_NAME.get((name ?? '').toLowerCase()) ?? BY_DESTINATION.get((destination ?? '').toLowerCase()) ?? null
  );
}

/** The likely type by the MIME type of the response, else by the URL's extension. */
export function likelyType(mimeType: string | null, url: string): ResourceType {
  return byMimeType((mimeType ?? '').toLowerCase()) ?? byEnding(url) ?? 'other';
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
