import { createUser, fromSeed } from '@nats-io/jwt';
import { formatCredential } from './credential.ts';

/** A NATS user's key pair, made where it is used. Only the public key leaves the machine. */
export interface UserKey {
  publicKey: string;
  /** The secret key as text. */
  seed: string;
}

export function createUserKey(): UserKey {
  const user = createUser();
  return { publicKey: user.getPublicKey(), seed: new TextDecoder().decode(user.getSeed()) };
}

/**
 * Formats the credential of a user whose token the authority has signed for this machine's key.
 * @param ca CA certificates in PEM that may sign the broker's certificate, besides the public ones
 */
export function formatUserCredential(jwt: string, { seed }: UserKey, ca: string | undefined): string {
  return formatCredential(jwt, parseSeed(seed), ca);
}

/** Signs a text with Ed25519. Returns the signature in base64url. */
export function signText({ seed }: UserKey, text: string): string {
  return Buffer.from(parseSeed(seed).sign(new TextEncoder().encode(text))).toString('base64url');
}

function parseSeed(seed: string): ReturnType<typeof fromSeed> {
  return fromSeed(new TextEncoder().encode(seed));
}
