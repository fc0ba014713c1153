import { Secret, TOTP } from 'otpauth';

/** Seconds for which a code counts, as authenticator apps have it. */
const period = 30;

function totpOf(email: string, secret: Secret): TOTP {
  return new TOTP({ issuer: 'Model Router', label: email, secret, algorithm: 'SHA1', digits: 6, period });
}

/** A new secret of an authenticator app, and the address that the app reads. */
export function newApp(email: string): { secret: string; uri: string } {
  const secret = new Secret({ size: 20 });
  return { secret: secret.base32, uri: totpOf(email, secret).toString() };
}

/**
 * The number of the 30 seconds since 1970 that a code belongs to: those of now, the ones before or the ones after (RFC 6238, section 5.2).
 * Undefined for a wrong code.
 */
export function stepOfCode(secret: string, code: string): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  // The library compares bytes, and throws for six characters of more bytes than six.
  if (!/^[0-9]{6}$/.test(token)) return undefined;
  const delta = totpOf('', Secret.fromBase32(secret)).validate({ token, window: 1 });
  return delta === null ? undefined : Math.floor(Date.now() / 1_000 / period) + delta;
}
