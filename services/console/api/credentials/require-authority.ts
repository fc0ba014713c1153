import { z } from 'zod';
import { credentialNamePattern } from '#shared/broker/connection/credential.ts';
import { openCredentialName } from '#shared/broker/contract/worker-address.ts';
import { requireAccess } from '../access.ts';
import type { Actor } from '../actor.ts';
import { ApiFailure } from '../api-failure.ts';
import type { ApiParts } from '../api-parts.ts';

export interface CredentialParts extends Pick<ApiParts, 'accounts' | 'log'> {
  /** The folder of the cluster's authority, and the addresses of NATS; undefined if this ingress has no such folder. */
  authority: { folder: string; natsUrl: string } | undefined;
}

export interface BoxInvitationParts extends CredentialParts {
  /** How machines that join reach this ingress. */
  listening: {
    publicUrl: string | undefined;
    /** The address on which the ingress listens. */
    host: string;
    /** The folder of the ingress' certificate; undefined if it does not answer HTTPS. */
    tlsFolder: string | undefined;
    /** Whether the ingress passes boxes on to NATS. */
    hasRelay: boolean;
  };
}

export const credentialName = z
  .string()
  .regex(credentialNamePattern, 'A name has up to 64 letters, digits, _ and -.')
  .refine(
    (name) => name !== openCredentialName,
    `"${openCredentialName}" is the name of workers without a credential.`,
  );

/**
 * Returns the authority of this ingress.
 * @throws ApiFailure 403 if the actor is not an administrator, 409 if this ingress has no authority
 */
export function requireAuthority(
  { authority }: Pick<CredentialParts, 'authority'>,
  actor: Actor,
): { folder: string; natsUrl: string } {
  requireAccess('credential.manage', actor);
  if (authority) return authority;
  const message =
    'This ingress makes no credentials: CREDENTIALS_DIR is not set. Set it to the folder of the authority, or run `rtr credentials` where that folder is.';
  throw new ApiFailure(409, 'no_authority', message);
}

export function createNameInUseError(name = ''): ApiFailure {
  const message = `There is a credential named ${name}. Revoke it first, or choose another name.`;
  return new ApiFailure(409, 'name_in_use', message, { field: 'name' });
}
