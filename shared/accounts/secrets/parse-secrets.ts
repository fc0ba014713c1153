import { scryptSync } from 'node:crypto';

/** Bytes of a secret. */
const secretBytes = 32;

/** Characters of the shortest passphrase. */
const leastCharacters = 32;

const hexSecret = /^[0-9a-f]{64}$/i;
const base64Secret = /^[\w+/-]{43}=?$/;

/**
 * Reads secrets that an operator sets, separated by commas. Each is 32 bytes as hex or base64, or a passphrase.
 * @returns undefined unless there is one at least and all are long enough
 */
export function parseSecrets(text: string): Buffer[] | undefined {
  const secrets = text.split(',').map((each) => parseSecret(each.trim()));
  const known = secrets.filter((secret) => secret !== undefined);
  return known.length === secrets.length ? known : undefined;
}

function parseSecret(text: string): Buffer | undefined {
  if (hexSecret.test(text)) return Buffer.from(text, 'hex');
  // Both alphabets of base64 are read.
  if (base64Secret.test(text)) return Buffer.from(text, 'base64');
  // What is sealed with a passphrase can be guessed at by whoever has it, so each guess has a cost.
  return text.length < leastCharacters ? undefined : scryptSync(text, 'rtr', secretBytes);
}
