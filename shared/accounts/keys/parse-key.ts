import {
  checksumLength,
  idLength,
  keyAlphabet,
  computeKeyChecksum,
  keyKinds,
  keySpelling,
  randomLength,
  type ParsedKey,
} from './key-format.ts';

const idPattern = `[${keyAlphabet}]{${idLength}}`;
const secretPattern = `[${keyAlphabet}]{${randomLength + checksumLength}}`;
const wholeIdPattern = new RegExp(`^${idPattern}$`);
const keyPatterns = keyKinds.map((kind) => {
  const { word, separator } = keySpelling[kind];
  return { kind, pattern: new RegExp(`^${word}[${separator}](${idPattern})[${separator}](${secretPattern})$`) };
});

/** Parses a raw key. Returns undefined for a text whose form or checksum is wrong. */
export function parseKey(raw: string): ParsedKey | undefined {
  const key = parseKeyForm(raw);
  return key && computeKeyChecksum(raw.slice(0, -checksumLength)) === raw.slice(-checksumLength) ? key : undefined;
}

/** Parses a text in the form of a key, whether or not its checksum is right. */
export function parseKeyForm(raw: string): ParsedKey | undefined {
  for (const { kind, pattern } of keyPatterns) {
    const [, id, secret] = pattern.exec(raw) ?? [];
    if (id === undefined || secret === undefined) continue;
    return { kind, id, secret };
  }
  return undefined;
}

export function isKeyId(text: string): boolean {
  return wholeIdPattern.test(text);
}
