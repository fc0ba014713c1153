import { createUser, encodeUser, fmtCreds } from '@nats-io/jwt';
import { ConfigError } from '#shared/core/load-config.ts';
import { ownerPattern, tags, type Role } from '../connection/credential.ts';
import { openOwner } from '../contract/worker-address.ts';
import { keyPairFromSeed, type Authority, type Issued } from './authority.ts';
import { derivePermissions } from './permissions.ts';

export interface CredentialRequest {
  role: Role;
  /** The owner: one token of a subject. At most one valid credential has this name. */
  name: string;
  /** Milliseconds of validity. Absent: the credential does not expire. */
  validMs?: number | undefined;
  /** CA certificates in PEM that go into the file instead of the authority's own. */
  ca?: string | undefined;
}

/** A new credential: the text of its file, which is secret, and its entry for the authority's list. */
export interface IssuedCredential {
  text: string;
  issued: Issued;
}

/**
 * Issues a credential. The servers' configuration stays as it is.
 * @throws ConfigError for an invalid name, and for the name of another valid credential
 */
export async function issueCredential(
  authority: Authority,
  { role, name, validMs, ca = authority.ca }: CredentialRequest,
): Promise<IssuedCredential> {
  if (!ownerPattern.test(name) || name === openOwner)
    throw new ConfigError(`the name of a credential has up to 64 letters, digits, _ and -, and is not "${openOwner}"`);
  const now = Date.now();
  if (authority.issued.some((other) => other.name === name && isValid(other, now)))
    throw new ConfigError(`there is a credential named ${name}: revoke it first, or choose another name`);
  const user = createUser();
  const permissions = derivePermissions(role, name, authority.prefix);
  const { publish, subscribe, neverSubscribe, maxSubscriptions } = permissions;
  const expiresAt = validMs === undefined ? undefined : now + validMs;
  const token = await encodeUser(
    name,
    user,
    keyPairFromSeed(authority.account.seed).getPublicKey(),
    {
      pub: { allow: publish },
      sub: { allow: subscribe, ...(neverSubscribe && { deny: neverSubscribe }) },
      ...(maxSubscriptions !== undefined && { subs: maxSubscriptions }),
      allowed_connection_types: ['STANDARD', 'WEBSOCKET'],
      tags: tags.of({ role, prefix: authority.prefix }),
    },
    {
      signer: keyPairFromSeed(authority.signer.seed),
      ...(expiresAt !== undefined && { exp: Math.floor(expiresAt / 1000) }),
    },
  );
  const blocks = new TextDecoder().decode(fmtCreds(token, user));
  return {
    text: ca === undefined ? blocks : `${blocks}\n${ca.trim()}\n`,
    issued: { name, role, user: user.getPublicKey(), issuedAt: now, expiresAt },
  };
}

export function isValid({ expiresAt, revokedAt }: Issued, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}
