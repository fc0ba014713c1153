/** Media types by the ending of a file's name. */
const byEnding: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  jsonl: 'application/jsonl',
  json: 'application/json',
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  html: 'text/html',
  xml: 'text/xml',
  yaml: 'text/yaml',
  yml: 'text/yaml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** Media types by the beginning of a file, read as Latin-1. In a PNG, control characters follow the name of the format. */
const byStart: readonly [RegExp, string][] = [
  [/^%PDF-/, 'application/pdf'],
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
];

/** Bytes at the start of a file that determine its type. */
export const startBytes = 16;

export const unknownType = 'application/octet-stream';

/**
 * Returns the media type of a file. Its first bytes decide, else the type that its sender names, else the ending of its name.
 * @param declared the type that the sender names; undefined if it names none
 * @param start the first bytes
 */
export function detectMimeType(name: string, declared: string | undefined, start: Uint8Array): string {
  const text = Buffer.from(start).toString('latin1');
  const found = byStart.find(([pattern]) => pattern.test(text))?.[1];
  if (found !== undefined) return found;
  const named = declared?.split(';')[0]?.trim().toLowerCase();
  if (named && named !== unknownType && /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(named)) return named;
  const ending = /\.(\w{1,8})$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return byEnding[ending] ?? unknownType;
}
