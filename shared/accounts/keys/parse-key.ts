import { argon2id, hash, needsRehash } from 'argon2';
import {
  checksumLength,
  computeKeyChecksum,
  idLength,
  keyAlphabet,
  keyPattern,
  randomLength,
  type ParsedKey,
} from './key-format.ts';

const wholeIdPattern = new RegExp(`^[${keyAlphabet}]{${idLength}}$`);
const wholeKeyPattern = new RegExp(`^${keyPattern}$`);
const secretLength = randomLength + checksumLength;

/** Parses a raw key. Returns undefined for a text whose form or checksum is wrong. */
export function parseKey(raw: string): ParsedKey | undefined {
  const key = parseKeyForm(raw);
  return key && computeKeyChecksum(raw.slice(0, -checksumLength)) === raw.slice(-checksumLength) ? key : undefined;
}

/** Parses a text in the form of a key, whether or not its checksum is right. */
export function parseKeyForm(raw: string): ParsedKey | undefined {
  if (!wholeKeyPattern.test(raw)) return undefined;
  // One character separates the id from the secret.
  return { id: raw.slice(-secretLength - 1 - idLength, -secretLength - 1), secret: raw.slice(-secretLength) };
}

export function isKeyId(text: string): boolean {
  return wholeIdPattern.test(text);
}

/** The cost of a key's hash: 256 KiB, one pass and one lane, about 0.12 ms of one core. See docs/decisions/0019-cost-of-keys.md. */
const cost = { memoryCost: 256, timeCost: 1, parallelism: 1 };

/** Hashes the secret of a key for the store: Argon2id, as a PHC string, which contains its salt and its parameters. */
export function hashKeySecret(secret: string): Promise<string> {
  return hash(secret, { type: argon2id, ...cost });
}

/** Returns whether the cost of a hash differs from the cost of new hashes. */
export function hasOtherCost(phc: string): boolean {
  return needsRehash(phc, cost);
}
