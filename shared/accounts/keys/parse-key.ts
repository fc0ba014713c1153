import {
  checksumLength,
  idLength,
  keyAlphabet,
  keyChecksum,
  keyKinds,
  keySpelling,
  randomLength,
  type ParsedKey,
} from './key-format.ts';

const idPattern = `[${keyAlphabet}]{${idLength}}`;
const secretPattern = `[${keyAlphabet}]{${randomLength + checksumLength}}`;
const idForm = new RegExp(`^${idPattern}$`);
const keyForms = keyKinds.map((kind) => {
  const { word, separator } = keySpelling[kind];
  return { kind, form: new RegExp(`^${word}[${separator}](${idPattern})[${separator}](${secretPattern})$`) };
});

/** Parses a raw key. Returns undefined for a text that is no key, because its form or its checksum is wrong. */
export function parseKey(raw: string): ParsedKey | undefined {
  const key = parseKeyForm(raw);
  return key && keyChecksum(raw.slice(0, -checksumLength)) === raw.slice(-checksumLength) ? key : undefined;
}

/** Parses a text in the form of a key, whether or not its checksum is right. */
export function parseKeyForm(raw: string): ParsedKey | undefined {
  for (const { kind, form } of keyForms) {
    const [, id, secret] = form.exec(raw) ?? [];
    if (id === undefined || secret === undefined) continue;
    return { kind, id, secret };
  }
  return undefined;
}

export function isKeyId(text: string): boolean {
  return idForm.test(text);
}
