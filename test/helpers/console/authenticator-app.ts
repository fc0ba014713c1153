import { Secret, TOTP } from 'otpauth';
import type { ConsoleClient } from './console-client.ts';
import { goodPassword } from './good-password.ts';

/** Returns the code that an authenticator app shows, some seconds from now. */
export function codeOf(secret: string, seconds = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + seconds * 1_000 });
}

/** Sets up an authenticator app, which uses up its present code, and returns its secret and the recovery codes. */
export async function setUpApp(
  person: ConsoleClient,
  password = goodPassword,
): Promise<{ secret: string; codes: string[] }> {
  const { body } = await person.post('/second-factor/app', { password });
  const confirmed = await person.post('/second-factor/app/confirm', { code: codeOf(body.secret) });
  return { secret: String(body.secret), codes: confirmed.body.codes };
}
