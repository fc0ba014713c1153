import { scryptSync } from 'node:crypto';

const secretBytes = 32;

const minCharacters = 32;

const hexSecret = /^[0-9a-f]{64}$/i;
const base64Secret = /^[\w+/-]{43}=?$/;

/**
 * Reads secrets that an operator sets, separated by commas. Each is 32 bytes as hex or base64, or a passphrase.
 * @returns undefined if there is no secret, or one of them is too short
 */
export function parseSecrets(text: string): Buffer[] | undefined {
  const secrets = text.split(',').map((each) => parseSecret(each.trim()));
  const known = secrets.filter((secret) => secret !== undefined);
  return known.length === secrets.length ? known : undefined;
}

function parseSecret(text: string): Buffer | undefined {
  if (hexSecret.test(text)) return Buffer.from(text, 'hex');
  // Node reads both alphabets of base64.
  if (base64Secret.test(text)) return Buffer.from(text, 'base64');
  // Somebody who has a sealed text can try to guess the passphrase, so each guess must be costly.
  return text.length < minCharacters ? undefined : scryptSync(text, 'rtr', secretBytes);
}
