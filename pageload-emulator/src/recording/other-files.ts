/** Files that people may take for recordings, or pack them in, by how they begin; each byte is a character. */
const OTHER_FILES: [name: string, beginning: RegExp][] = [
  ['a file packed by bzip2', /^BZh[1-9]1AY&SY/],
  ['a file packed by xz', /^\xfd7zXZ\0/],
  ['a file packed by Zstandard', /^\x28\xb5\x2f\xfd/],
  ['a 7-Zip archive', /^7z\xbc\xaf/],
  // POSIX ustar: 257 bytes of a file's name, rights and times come first.
  ['a tar archive: unpack it first', /^[^\0].{256}ustar/s],
  ['a capture of packets', /^(\xd4\xc3\xb2\xa1|\x4d\x3c\xb2\xa1|\xa1\xb2[\xc3\x3c][\xd4\x4d]|\n\r\r\n)/],
  ["mitmproxy's flows, which it saves as HAR too", /^\d{1,9}:\d{1,3}:version;/],
  ['a Charles session: export it as HAR', /^\xac\xed\0/],
  ['an XML file: export its requests as HAR', /^(\xef\xbb\xbf)?\s*<\?xml\b/i],
  ['an HTML page', /^\s*<(!doctype html|html)\b/i],
];

/** Names what a file is that no recording begins like; null for others. */
export function otherFile(head: Uint8Array): string | null {
  const beginning = String.fromCharCode(...head);
  return OTHER_FILES.find(([, pattern]) => pattern.test(beginning))?.[0] ?? null;
}
