import { createUser, encodeUser, fmtCreds } from '@nats-io/jwt';
import { ConfigError } from '#shared/core/load-config.ts';
import { credentialNamePattern, tags, type Role } from '../connection/credential.ts';
import { openCredentialName } from '../contract/worker-address.ts';
import { keyPairFromSeed, type Authority, type IssuedCredential } from './authority.ts';
import { derivePermissions } from './permissions.ts';

export interface CredentialRequest {
  role: Role;
  /** The credential's name, which becomes one token of its subjects. At most one valid credential of a cluster has this name. */
  name: string;
  /** Milliseconds of validity. Absent: the credential does not expire. */
  validMs?: number | undefined;
  /** CA certificates in PEM that go into the credential instead of those of the authority. */
  ca?: string | undefined;
}

/** A new credential: the text of its file, which is secret, and its entry for the list `issued` of the authority. */
export interface NewCredential {
  text: string;
  issued: IssuedCredential;
}

/**
 * Issues a credential. Does not add it to `authority.issued`. The servers accept it without a new configuration.
 * @throws ConfigError for an invalid name, and for the name of another valid credential
 */
export async function issueCredential(
  authority: Authority,
  { role, name, validMs, ca = authority.ca }: CredentialRequest,
): Promise<NewCredential> {
  if (!credentialNamePattern.test(name) || name === openCredentialName)
    throw new ConfigError(
      `the name of a credential has up to 64 letters, digits, _ and -, and is not "${openCredentialName}"`,
    );
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
      tags: tags.write({ role, prefix: authority.prefix }),
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

export function isValid({ expiresAt, revokedAt }: IssuedCredential, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}
