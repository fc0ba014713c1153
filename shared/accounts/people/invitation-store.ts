import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { askRedis, askRedisAll } from '../redis/ask-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { mintId } from '../keys/mint-key.ts';
import { storedFields } from '../redis/stored-value.ts';
import { mintToken, tokenHash } from './secret-token.ts';
import { userRoles, type UserRole } from './user.ts';

const createInvitation = new RedisScript(new URL('lua/create-invitation.lua', import.meta.url));

/** Invitations that may be open at once. */
const mostOpen = 500;

const invitationSchema = z.object({
  id: z.string(),
  email: z.string(),
  role: z.enum(userRoles),
  teamId: z.string().optional(),
  createdAt: z.coerce.number(),
  expiresAt: z.coerce.number(),
  /** The administrator who made it. It goes when they are no administrator any more, or are blocked. */
  invitedBy: z.string(),
  /** SHA-256 of the link's token. */
  linkHash: z.string(),
});

/** What is stored of an invitation. Times in ms since 1970. */
export type InvitationRecord = z.infer<typeof invitationSchema>;

/** Whom an administrator invites. */
export interface NewInvitation {
  email: string;
  role: UserRole;
  teamId?: string | undefined;
  /** The id of the administrator. */
  invitedBy: string;
  /** Milliseconds for which the link can be used. */
  ms: number;
}

/** The open invitations, in Redis, which forgets them when they expire. Every method throws `store_unavailable` as KeyStore does. */
export class InvitationStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  async find(id: string): Promise<InvitationRecord | undefined> {
    const fields = await askRedis(this.#redis.hgetall(this.#names.invitation(id)));
    return Object.keys(fields).length === 0 ? undefined : invitationSchema.parse(fields);
  }

  /** The open ones, those that expire first at the beginning. */
  async list(): Promise<InvitationRecord[]> {
    const ids = await askRedis(this.#redis.zrange(this.#names.invitations, '0', '-1'));
    const invitations = await Promise.all(ids.map((id) => this.find(id)));
    return invitations.filter((invitation) => invitation !== undefined);
  }

  /** Makes an invitation. This is the only moment at which its token is known. `email taken`: by a person who has an account. */
  async create(invited: NewInvitation): Promise<CreatedInvitation | 'email taken' | 'no team' | 'too many'> {
    const { email, role, teamId, invitedBy, ms } = invited;
    const token = mintToken();
    const createdAt = Date.now();
    const expiresAt = createdAt + ms;
    const facts = { id: mintId(), email, role, createdAt, expiresAt, invitedBy, linkHash: tokenHash(token) };
    const invitation = { ...facts, ...(teamId === undefined ? {} : { teamId }) };
    const { invitation: record, invitationLink, invitations, userEmails, team } = this.#names;
    const names = [record(facts.id), invitationLink(facts.linkHash), invitations, userEmails, team(teamId ?? '')];
    const args = {
      id: facts.id,
      email,
      now: createdAt,
      expiresAt,
      maxOpen: mostOpen,
      isToTeam: teamId !== undefined,
      fields: storedFields(invitation),
    };
    const outcome = await createInvitation.run(this.#redis, { keys: names, args });
    if (outcome !== 'created') return outcome as 'email taken' | 'no team' | 'too many';
    return { invitation, token };
  }

  /** Takes an invitation back. */
  async delete({ id, linkHash }: InvitationRecord): Promise<void> {
    const { invitation, invitationLink, invitations } = this.#names;
    const steps = this.#redis.multi();
    steps.del(invitation(id), invitationLink(linkHash)).zrem(invitations, id);
    await askRedisAll(steps);
  }
}

export interface CreatedInvitation {
  invitation: InvitationRecord;
  token: string;
}
