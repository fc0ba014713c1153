/** Media types by the ending of a file's name. */
const typesByEnding: Readonly<Record<string, string>> = {
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
const typesByStart: readonly [RegExp, string][] = [
  [/^%PDF-/, 'application/pdf'],
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
];

/** Number of bytes at the start of a file that are needed to detect its type. */
export const typeBytes = 16;

export const unknownMimeType = 'application/octet-stream';

/**
 * Returns the media type of a file: the type that its first bytes show, otherwise the type that the sender declares, otherwise the type for
 * the ending of its name.
 * @param declared the type that the sender declares; undefined if the sender declares none
 * @param start the first bytes of the file
 */
export function detectMimeType(name: string, declared: string | undefined, start: Uint8Array): string {
  const text = Buffer.from(start).toString('latin1');
  const foundType = typesByStart.find(([pattern]) => pattern.test(text))?.[1];
  if (foundType !== undefined) return foundType;
  const declaredType = declared?.split(';')[0]?.trim().toLowerCase();
  if (declaredType && declaredType !== unknownMimeType && /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/.test(declaredType))
    return declaredType;
  const ending = /\.(\w{1,8})$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return typesByEnding[ending] ?? unknownMimeType;
}
