import type { KeyIdentity } from './key-record.ts';
import { ownIssuer } from '../sign-in/programs/access-tokens.ts';

export interface CredentialVerifier {
  /** Returns the identity of a credential. Throws, or rejects with, the RouterError that the client receives. */
  verify(credential: string): KeyIdentity | Promise<KeyIdentity>;
}

/** The verifiers of each kind of credentials. */
export interface CredentialVerifiers {
  /** Verifies keys. */
  keys: CredentialVerifier;
  /** Verifies access tokens of programs that people have signed in. */
  tokens: CredentialVerifier;
  /** Verifies tokens of other issuers. */
  issuers: CredentialVerifier;
}

/** A signed JWT: three parts in base64url. The first two are JSON objects, so they begin with `{"`, which is `eyJ` in base64url. */
const jwtPattern = /^eyJ[\w-]*\.(eyJ[\w-]*)\.[\w-]+$/;

/**
 * Returns a function that passes each credential to one of three verifiers. It chooses the verifier by the form of the credential and, for
 * a JWT, by the issuer that the JWT names. The chosen verifier makes sure that the issuer is genuine.
 */
export function createCredentialVerifier({ keys, tokens, issuers }: CredentialVerifiers): CredentialVerifier['verify'] {
  return (credential) => {
    const [, encodedClaims] = jwtPattern.exec(credential) ?? [];
    if (encodedClaims === undefined) return keys.verify(credential);
    return readClaimedIssuer(encodedClaims) === ownIssuer ? tokens.verify(credential) : issuers.verify(credential);
  };
}

/** Returns the unverified issuer that a credential names; undefined if the credential is not a JWT. */
export function readIssuer(credential: string): unknown {
  const [, encodedClaims] = jwtPattern.exec(credential) ?? [];
  return encodedClaims === undefined ? undefined : readClaimedIssuer(encodedClaims);
}

function readClaimedIssuer(encodedClaims: string): unknown {
  try {
    const claims: unknown = JSON.parse(Buffer.from(encodedClaims, 'base64url').toString());
    return typeof claims === 'object' && claims !== null && 'iss' in claims ? claims.iss : undefined;
  } catch {
    // The credential is not a token of any issuer.
    return undefined;
  }
}
