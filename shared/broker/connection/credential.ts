import { decode } from '@nats-io/jwt';
import { z } from 'zod';
import { ConfigError } from '#shared/core/load-config.ts';
import { tiers } from '#shared/core/tier.ts';

export const roles = ['ingress', 'runner', ...tiers] as const;
export type Role = (typeof roles)[number];

/** The pattern of a credential's name, which is one token of a subject. */
export const credentialNamePattern = /^[\w-]{1,64}$/;

export interface Credential {
  role: Role;
  /** The name of the credential, which is one token of the subjects that its processes may use. */
  name: string;
  /** The first token of the cluster's subjects. */
  prefix: string;
  /** The token that NATS calls a user JWT, signed by the cluster's authority. It is not secret. */
  jwt: string;
  /** The secret key of the credential. */
  seed: Uint8Array;
  /** CA certificates in PEM that may sign the broker's certificate, besides the public ones. */
  ca: string | undefined;
  /** When the credential expires, in milliseconds since 1970. */
  expiresAt: number | undefined;
}

/** Writes and reads the role and the prefix in a user JWT. They are stored as tags, which NATS does not interpret. */
export const tags = {
  write: ({ role, prefix }: Pick<Credential, 'role' | 'prefix'>): string[] => [`role:${role}`, `prefix:${prefix}`],
  read: (list: readonly string[], name: 'role' | 'prefix'): string | undefined =>
    list.find((tag) => tag.startsWith(`${name}:`))?.slice(name.length + 1),
};

const claimsSchema = z.object({
  name: z.string().regex(credentialNamePattern),
  exp: z.number().optional(),
  nats: z.object({ type: z.literal('user'), tags: z.array(z.string()) }),
});

const tokenBlock = /-+BEGIN NATS USER JWT-+\s+(\S+)\s+-+END NATS USER JWT-+/;
const seedBlock = /-+BEGIN USER NKEY SEED-+\s+(\S+)\s+-+END USER NKEY SEED-+/;
const certificateBlocks = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Parses the text of a credential: the usual blocks of a NATS credential file, then the CA certificates, if a private authority signs the
 * broker's certificate.
 * @throws ConfigError for any other text, and for a credential that `rtr credentials` has not made; the error never repeats the text
 */
export function parseCredential(text: string): Credential {
  const jwt = tokenBlock.exec(text)?.[1];
  const seed = seedBlock.exec(text)?.[1];
  if (jwt === undefined || seed === undefined)
    throw new ConfigError('this is no credential: it must hold a NATS user token and a seed');
  const claims = claimsSchema.safeParse(decodeToken(jwt)).data;
  const role = roles.find((name) => name === tags.read(claims?.nats.tags ?? [], 'role'));
  const prefix = tags.read(claims?.nats.tags ?? [], 'prefix');
  if (!claims || role === undefined || prefix === undefined)
    throw new ConfigError('this credential names no role: make it with `rtr credentials`');
  return {
    role,
    name: claims.name,
    prefix,
    jwt,
    seed: new TextEncoder().encode(seed),
    ca: text.match(certificateBlocks)?.join('\n'),
    expiresAt: claims.exp === undefined ? undefined : claims.exp * 1000,
  };
}

function decodeToken(jwt: string): unknown {
  try {
    return decode(jwt);
  } catch (cause) {
    throw new ConfigError('the token in this credential is damaged', { cause });
  }
}
