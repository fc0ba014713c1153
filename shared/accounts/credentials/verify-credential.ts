import type { KeyIdentity } from '../keys/key-record.ts';
import { ownIssuer } from '../programs/access-tokens.ts';

/** Verifies one kind of credentials. Throws, or rejects with, the RouterError that the client receives. */
export interface CredentialVerifier {
  verify(credential: string): KeyIdentity | Promise<KeyIdentity>;
}

export interface Credentials {
  keys: CredentialVerifier;
  /** Access tokens of programs that people have signed in. */
  tokens: CredentialVerifier;
}

/** A signed JWT: three parts in base64url, the first two of them JSON objects, which begin with `{"`. */
const jwtForm = /^eyJ[\w-]*\.(eyJ[\w-]*)\.[\w-]+$/;

/** Whose credential this is. What it is, its form tells, and of a JWT its issuer, which is verified afterwards. */
export function verifyCredential({ keys, tokens }: Credentials): CredentialVerifier['verify'] {
  return (credential) => {
    const [, claims] = jwtForm.exec(credential) ?? [];
    if (claims === undefined) return keys.verify(credential);
    return issuerOf(claims) === ownIssuer ? tokens.verify(credential) : keys.verify(credential);
  };
}

function issuerOf(claims: string): unknown {
  try {
    const read: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString());
    return typeof read === 'object' && read !== null && 'iss' in read ? read.iss : undefined;
  } catch {
    // No token of anybody.
    return undefined;
  }
}
