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
  /** Tokens of other issuers. */
  issuers: CredentialVerifier;
}

/** A signed JWT: three parts in base64url, the first two of them JSON objects, which begin with `{"`. */
const jwtPattern = /^eyJ[\w-]*\.(eyJ[\w-]*)\.[\w-]+$/;

/**
 * Returns a verifier that passes each credential to one of three verifiers, chosen by its form and, for a JWT, by the issuer that it names.
 * The chosen verifier then also verifies the issuer.
 */
export function createCredentialVerifier({ keys, tokens, issuers }: Credentials): CredentialVerifier['verify'] {
  return (credential) => {
    const [, claims] = jwtPattern.exec(credential) ?? [];
    if (claims === undefined) return keys.verify(credential);
    return readClaimedIssuer(claims) === ownIssuer ? tokens.verify(credential) : issuers.verify(credential);
  };
}

/** Returns the issuer that a credential names, unverified; undefined if the credential is no JWT. */
export function readIssuer(credential: string): unknown {
  const [, claims] = jwtPattern.exec(credential) ?? [];
  return claims === undefined ? undefined : readClaimedIssuer(claims);
}

function readClaimedIssuer(claims: string): unknown {
  try {
    const read: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString());
    return typeof read === 'object' && read !== null && 'iss' in read ? read.iss : undefined;
  } catch {
    // The credential is not a token of any issuer.
    return undefined;
  }
}
