import { Secret, TOTP } from 'otpauth';

/** Seconds for which a code is valid. Authenticator apps use this value. */
const period = 30;

function createTotp(email: string, secret: Secret): TOTP {
  return new TOTP({ issuer: 'Model Router', label: email, secret, algorithm: 'SHA1', digits: 6, period });
}

/**
 * Makes a secret for an authenticator app.
 * @returns the secret in base32, and the `otpauth` address that the app reads
 */
export function createApp(email: string): { secret: string; uri: string } {
  const secret = new Secret({ size: 20 });
  return { secret: secret.base32, uri: createTotp(email, secret).toString() };
}

/**
 * Returns the step of a code: the number of 30-second periods since 1970. Accepts the codes of the previous, the current and the next step
 * (RFC 6238, section 5.2). Returns undefined for a wrong code.
 */
export function findStepOfCode(secret: string, code: string): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  // The library compares bytes, and throws for six characters that take more than six bytes.
  if (!/^[0-9]{6}$/.test(token)) return undefined;
  const delta = createTotp('', Secret.fromBase32(secret)).validate({ token, window: 1 });
  return delta === null ? undefined : Math.floor(Date.now() / 1_000 / period) + delta;
}
