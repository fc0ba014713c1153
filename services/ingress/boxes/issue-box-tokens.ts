import type { BoxInvitation } from '#shared/accounts/boxes/box-invitation-store.ts';
import type { Authority, IssuedCredential } from '#shared/broker/authority/authority.ts';
import { isValid } from '#shared/broker/authority/credentials.ts';
import { issueTokensInThread } from '#shared/broker/authority/run-signing-thread.ts';
import { tiers } from '#shared/core/tier.ts';
import { chooseBoxName } from './choose-box-name.ts';
import { BoxRefusal } from './box-refusal.ts';

export interface JoiningBox {
  invitation: Pick<BoxInvitation, 'tiers' | 'name' | 'redeemedAt'>;
  /** The public key that the invitation is bound to. */
  key: string;
  host: string;
}

export interface BoxTokens {
  box: string;
  /** The token of each tier that the box may serve. */
  tokens: Record<string, string>;
}

/**
 * Issues the tokens of a box, and adds them to `authority.issued`. A box that has a valid token keeps its name. So a box gets the same name
 * again if this process ended after the authority was written and before the answer was sent.
 * @param hasEntry whether the registry has an entry for credentials of a name
 * @throws BoxRefusal if the key belongs to a component of the cluster, or was revoked after it had redeemed the invitation
 */
export async function issueBoxTokens(
  authority: Authority,
  { invitation, key, host }: JoiningBox,
  hasEntry: (name: string) => boolean,
): Promise<BoxTokens> {
  const { issued } = authority;
  const now = Date.now();
  const own = issued.filter((credential) => credential.key === key);
  if (own.some(({ role }) => !tiers.some((tier) => tier === role)))
    throw new BoxRefusal(400, 'invalid_request', '`key` belongs to another component of the cluster.');
  const { redeemedAt = now } = invitation;
  if (own.some(({ revokedAt = 0 }) => revokedAt >= redeemedAt))
    throw new BoxRefusal(409, 'invitation_used', 'The box of this invitation was revoked. Ask for a new invitation.');
  const valid = own.filter((credential) => isValid(credential, now));
  const isTaken = (name: string): boolean => issued.some((other) => other.name === name && isValid(other, now));
  const box = valid[0]?.name ?? chooseBoxName({ name: invitation.name, host }, isTaken, hasEntry);
  const made = await issueTokensInThread(
    authority,
    invitation.tiers.map((role) => ({ role, name: box, key })),
  );
  const isNew = ({ role }: IssuedCredential): boolean => !valid.some((other) => other.role === role);
  issued.push(...made.map((token) => token.issued).filter(isNew));
  return { box, tokens: Object.fromEntries(made.map(({ jwt, issued: { role } }) => [role, jwt])) };
}
