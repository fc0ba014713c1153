import {
  createAccount,
  createOperator,
  encodeAccount,
  encodeOperator,
  fromSeed,
  newScopedSigner,
  type KeyPair,
} from '@nats-io/jwt';
import { z } from 'zod';
import { ConfigError } from '#shared/core/load-config.ts';
import { credentialNamePattern, roles } from '../connection/credential.ts';
import { derivePermissions, digestPermissions, toUserLimits, userKeyTemplate } from './permissions.ts';

const seed = z.string().regex(/^S[OA][A-Z2-7]+$/);

const issuedCredentialSchema = z.object({
  name: z.string().regex(credentialNamePattern),
  role: z.enum(roles),
  /** The public key of the NATS user or, for a shared credential, of the signing key. */
  key: z.string().regex(/^[UA][A-Z2-7]+$/),
  issuedAt: z.number(),
  expiresAt: z.number().optional(),
  revokedAt: z.number().optional(),
});

/** An entry in an authority's list of issued credentials. Times are milliseconds since 1970. */
export type IssuedCredential = z.output<typeof issuedCredentialSchema>;

/**
 * The secrets that sign a cluster's credentials for NATS, and the list of issued credentials, as stored in a file. Anyone who reads the
 * file can make credentials.
 *
 * In NATS' terms, an operator signs the token of one account, and a signing key of the account signs the token of each user. A credential
 * is a user. A server has the tokens of the operator and the account, so it accepts users that it has never seen. A shared credential is a
 * further signing key of the account. Its scope contains the permissions of every user that it signs. The account's token lists the key
 * until the credential is revoked.
 */
const authoritySchema = z.object({
  v: z.literal(1),
  /** The first token of the cluster's subjects. */
  prefix: z.string().regex(/^[\w-]+$/),
  /** CA certificates in PEM that go into every credential. They may sign the broker's certificate. */
  ca: z.string().optional(),
  operator: z.object({ seed, token: z.string() }),
  /** The account for the server's own affairs. No credential belongs to this account. */
  system: z.object({ key: z.string(), token: z.string() }),
  account: z.object({ seed }),
  signer: z.object({ seed }),
  issued: z.array(issuedCredentialSchema),
});

export type Authority = z.output<typeof authoritySchema>;

/**
 * Whether the credential is shared, that is, a signing key. The public key of a signing key begins with `A`, the public key of a user with
 * `U`.
 */
export function isShared({ key }: Pick<IssuedCredential, 'key'>): boolean {
  return key.startsWith('A');
}

/** NATS' value for a limit that does not apply. */
const unlimited = -1;

/**
 * Creates an authority with new secret keys and no issued credentials.
 * @param ca CA certificates in PEM that go into every credential
 */
export async function createAuthority(prefix: string, ca: string | undefined): Promise<Authority> {
  const [operator, system, account, signer] = [createOperator(), createAccount(), createAccount(), createAccount()];
  const systemKey = system.getPublicKey();
  return {
    v: 1,
    prefix,
    ca,
    operator: {
      seed: readSeed(operator),
      token: await encodeOperator(prefix, operator, { system_account: systemKey }),
    },
    system: { key: systemKey, token: await encodeAccount('system', system, {}, { signer: operator }) },
    account: { seed: readSeed(account) },
    signer: { seed: readSeed(signer) },
    issued: [],
  };
}

/**
 * Parses the content of an authority's file.
 * @throws ConfigError for any other text
 */
export function parseAuthority(text: string): Authority {
  try {
    return authoritySchema.parse(JSON.parse(text));
  } catch {
    // The original error would repeat secret text.
    throw new ConfigError('this is not what `rtr credentials init` has written');
  }
}

/**
 * Builds the part of a NATS server's configuration that makes the server accept this authority's credentials and refuse revoked ones. A
 * shared credential that is issued later needs a new configuration.
 */
export async function buildServerConfig(authority: Authority): Promise<string> {
  const { prefix, operator, system, issued } = authority;
  const account = parseKeyPair(authority.account.seed);
  const shared = issued.filter((credential) => isShared(credential) && credential.revokedAt === undefined);
  const revoked = issued.filter((credential) => !isShared(credential) && credential.revokedAt !== undefined);
  const token = await encodeAccount(
    prefix,
    account,
    {
      signing_keys: [
        parseKeyPair(authority.signer.seed).getPublicKey(),
        ...shared.map(({ key, role, name }) =>
          newScopedSigner(key, name, toUserLimits(derivePermissions(role, name, prefix, userKeyTemplate))),
        ),
      ],
      limits: {
        subs: unlimited,
        data: unlimited,
        payload: unlimited,
        imports: unlimited,
        exports: unlimited,
        wildcards: true,
        conn: unlimited,
        leaf: 0,
        mem_storage: unlimited,
        disk_storage: unlimited,
        streams: unlimited,
        consumer: unlimited,
      },
      revocations: Object.fromEntries(revoked.map(({ key, revokedAt = 0 }) => [key, Math.ceil(revokedAt / 1000)])),
    },
    { signer: parseKeyPair(operator.seed) },
  );
  return [
    '# Made by `rtr credentials`: include it in the configuration of every server, and reload them when it has changed.',
    formatPermissionsLine(authority),
    `operator: ${operator.token}`,
    `system_account: ${system.key}`,
    'resolver: MEMORY',
    'resolver_preload {',
    `  ${account.getPublicKey()}: ${token}`,
    `  ${system.key}: ${system.token}`,
    '}',
    '',
  ].join('\n');
}

/** Whether a text is the servers' configuration of this authority, with the permissions of this release. */
export function isServerConfigOf(authority: Authority, text: string): boolean {
  return text.includes(authority.operator.token) && text.includes(formatPermissionsLine(authority));
}

function formatPermissionsLine({ prefix }: Authority): string {
  return `# Permissions: ${digestPermissions(prefix)}`;
}

/** Returns the public key of an authority's account, which is the account's name on a NATS server. */
export function getAccountKey({ account }: Authority): string {
  return parseKeyPair(account.seed).getPublicKey();
}

export function parseKeyPair(seedText: string): KeyPair {
  return fromSeed(new TextEncoder().encode(seedText));
}

function readSeed(key: KeyPair): string {
  return new TextDecoder().decode(key.getSeed());
}
