import { randomBytes } from 'node:crypto';
import { idLength, keyAlphabet, keyChecksum, keySpelling, randomLength, type KeyKind } from './key-format.ts';

/** A new key, raw and taken apart. */
export interface MintedKey {
  raw: string;
  id: string;
  secret: string;
}

/** Makes a new random key of a kind. Nothing is stored. */
export function mintKey(kind: KeyKind): MintedKey {
  const { word, separator } = keySpelling[kind];
  const id = randomText(idLength);
  const random = randomText(randomLength);
  const unchecked = `${word}${separator}${id}${separator}${random}`;
  const checksum = keyChecksum(unchecked);
  return { raw: unchecked + checksum, id, secret: random + checksum };
}

/** A new random id of a person, a team or an invitation, of the same form as a key's. */
export function mintId(): string {
  return randomText(idLength);
}

/** Each byte gives five bits; 32 divides 256, so every character is equally likely. */
function randomText(length: number): string {
  return Array.from(randomBytes(length), (byte) => keyAlphabet.charAt(byte % 32)).join('');
}
