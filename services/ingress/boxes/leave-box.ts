import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { Authority } from '#shared/broker/authority/authority.ts';
import { changeAuthority, readAuthority } from '#shared/broker/authority/authority-folder.ts';
import { isSignature, isValid, revokeCredentials } from '#shared/broker/authority/credentials.ts';
import { buildServerConfigInThread } from '#shared/broker/authority/run-signing-thread.ts';
import { tiers } from '#shared/core/tier.ts';
import { parseBody, countBoxTry, requireFolder, type BoxContext } from './box-context.ts';
import { BoxRefusal } from './box-refusal.ts';

/** A box whose credentials were revoked at its own request. */
export interface LeftBox {
  name: string;
  address: string;
}

const leaveSchema = z.object({
  v: z.literal(1),
  name: z.string().max(64),
  time: z.number(),
  signature: z.string().max(100),
});

/**
 * Creates the handler with which a box leaves: its credentials are revoked. The box signs the JSON of its name and the time with the secret
 * key of its credentials. A request that is sent again later has no effect, because a box makes a new key pair whenever it joins.
 * @param noteLeave records that a box has left; never throws
 */
export function createLeaveHandler(
  { serving, authorityFolder }: Pick<BoxContext, 'serving' | 'authorityFolder'>,
  noteLeave: (left: LeftBox) => Promise<void>,
): RequestHandler {
  return async (request, response) => {
    const folder = requireFolder(authorityFolder);
    const { name, time, signature } = parseBody(leaveSchema, request.body);
    const address = request.ip ?? '';
    const { signInGuard } = serving.accounts;
    // To look for the key and to check the signature takes milliseconds, so a request counts until its signature is right.
    await countBoxTry(signInGuard, address, 'leave');
    const key = findBoxKey(readAuthority(folder), name);
    if (key === undefined || !isSignature(key, JSON.stringify({ name, time }), signature))
      throw new BoxRefusal(401, 'signature_refused', 'No valid credential of this name has made this signature.');
    await signInGuard.withdrawBoxTry(address, 'leave');
    const revoke = (authority: Authority): number =>
      revokeCredentials(authority, (credential) => credential.name === name && credential.key === key).length;
    const revoked = await changeAuthority(folder, revoke, buildServerConfigInThread);
    if (revoked > 0) await noteLeave({ name, address });
    response.status(204).end();
  };
}

/** Returns the public key of the worker with a name that has a valid credential. A shared credential has none. */
function findBoxKey({ issued }: Authority, name: string): string | undefined {
  const now = Date.now();
  return issued.find(
    (credential) =>
      credential.name === name &&
      credential.key.startsWith('U') &&
      tiers.some((tier) => tier === credential.role) &&
      isValid(credential, now),
  )?.key;
}
