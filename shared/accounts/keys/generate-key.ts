import { randomBytes } from 'node:crypto';
import { idLength, keyAlphabet, computeKeyChecksum, keyStarts, randomLength, type KeyKind } from './key-format.ts';

export interface GeneratedKey {
  rawKey: string;
  /** The text of the raw key before its secret. */
  start: string;
  id: string;
  secret: string;
}

/** Generates a random key of a kind. Stores nothing. */
export function generateKey(kind: KeyKind): GeneratedKey {
  const id = generateText(idLength);
  const random = generateText(randomLength);
  const start = `${keyStarts[kind]}${id}_`;
  const unchecked = start + random;
  const checksum = computeKeyChecksum(unchecked);
  return { rawKey: unchecked + checksum, start, id, secret: random + checksum };
}

/** Generates a random id of a person, a team or an invitation, in the form of a key's id. */
export function generateId(): string {
  return generateText(idLength);
}

/** Converts each random byte to one character. All characters are equally likely, because 32 divides 256. */
function generateText(length: number): string {
  return Array.from(randomBytes(length), (byte) => keyAlphabet.charAt(byte % 32)).join('');
}
