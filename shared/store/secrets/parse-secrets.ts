import { scryptSync } from 'node:crypto';

const secretBytes = 32;

/** Minimum characters of a passphrase. */
const minPassphraseLength = 32;

const hexSecret = /^[0-9a-f]{64}$/i;
const base64Secret = /^[\w+/-]{43}=?$/;

/**
 * Parses the secrets that an operator sets, separated by commas. A secret is 32 bytes as hex or base64, or a passphrase.
 * @returns undefined if there is no secret, or if a passphrase is too short
 */
export function parseSecrets(text: string): Buffer[] | undefined {
  const secrets = text.split(',').map((secretText) => parseSecret(secretText.trim()));
  const validSecrets = secrets.filter((secret) => secret !== undefined);
  return validSecrets.length === secrets.length ? validSecrets : undefined;
}

function parseSecret(text: string): Buffer | undefined {
  if (hexSecret.test(text)) return Buffer.from(text, 'hex');
  // Node reads base64 and base64url alike.
  if (base64Secret.test(text)) return Buffer.from(text, 'base64');
  // An attacker who has a sealed text can try passphrases, so each try must be costly.
  return text.length < minPassphraseLength ? undefined : scryptSync(text, 'rtr', secretBytes);
}
