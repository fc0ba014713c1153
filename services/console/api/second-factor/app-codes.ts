import { Secret, TOTP } from 'otpauth';

/** Seconds for which a code is valid, the value that authenticator apps use. */
const period = 30;

function totpOf(email: string, secret: Secret): TOTP {
  return new TOTP({ issuer: 'Model Router', label: email, secret, algorithm: 'SHA1', digits: 6, period });
}

/**
 * Makes a secret for an authenticator app.
 * @returns the secret, and the address that the app reads
 */
export function newApp(email: string): { secret: string; uri: string } {
  const secret = new Secret({ size: 20 });
  return { secret: secret.base32, uri: totpOf(email, secret).toString() };
}

/**
 * Returns the number of the 30-second step since 1970 that a code belongs to. The code may be that of the current step, the one before or
 * the one after (RFC 6238, section 5.2). Returns undefined for a wrong code.
 */
export function stepOfCode(secret: string, code: string): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  // The library compares bytes, and throws for six characters that take more than six bytes.
  if (!/^[0-9]{6}$/.test(token)) return undefined;
  const delta = totpOf('', Secret.fromBase32(secret)).validate({ token, window: 1 });
  return delta === null ? undefined : Math.floor(Date.now() / 1_000 / period) + delta;
}
