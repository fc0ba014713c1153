import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { generateId } from '../keys/generate-key.ts';
import { StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { toStoredFields } from '#shared/store/redis/stored-value.ts';
import { generateToken, hashToken } from './secret-token.ts';
import { userRoles, type UserRole } from './user.ts';

const createInvitation = new RedisScript(new URL('lua/create-invitation.lua', import.meta.url));

const maxOpen = 500;

const invitationSchema = z.object({
  id: z.string(),
  email: z.string(),
  /** A role that this release does not define is read as `member`. The new account still gets the stored role. */
  role: z.enum(userRoles).catch('member'),
  teamId: z.string().optional(),
  createdAt: z.coerce.number(),
  expiresAt: z.coerce.number(),
  /** The administrator who made the invitation. The invitation is withdrawn when that person is blocked or no longer an administrator. */
  invitedBy: z.string(),
  /** SHA-256 of the link's token. */
  linkHash: z.string(),
});

/** The stored record of an invitation. Times in ms since 1970. */
export type InvitationRecord = z.infer<typeof invitationSchema>;

export interface NewInvitation {
  email: string;
  role: UserRole;
  teamId?: string | undefined;
  invitedBy: string;
  /** Milliseconds after the creation of the invitation for which its link can be used. */
  usableMs: number;
}

/** The open invitations. They are records in Redis that expire. Every method throws `store_unavailable` while Redis is unavailable. */
export class InvitationStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #records: StoredRecords<InvitationRecord>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    const { invitation: nameOf } = (this.#names = accountNames(prefix));
    this.#redis = redis;
    this.#records = new StoredRecords(redis, { kind: 'invitation', schema: invitationSchema, nameOf, report });
  }

  /**
   * Returns an open invitation; undefined if there is none with this id.
   * @throws UnreadableRecordError
   */
  find(id: string): Promise<InvitationRecord | undefined> {
    return this.#records.find(id);
  }

  /** Returns the open invitations that can be read, in the order of their expiry. */
  async list(): Promise<InvitationRecord[]> {
    return this.#records.findAll(await callRedis(this.#redis.zrange(this.#names.invitations, '0', '-1')));
  }

  /**
   * Creates an invitation. Only this call returns the token of its link. Returns `email taken` if a person with an account has the address.
   */
  async create(newInvitation: NewInvitation): Promise<CreatedInvitation | 'email taken' | 'no team' | 'too many'> {
    const { email, role, teamId, invitedBy, usableMs: ms } = newInvitation;
    const token = generateToken();
    const createdAt = Date.now();
    const expiresAt = createdAt + ms;
    const invitationFields = {
      id: generateId(),
      email,
      role,
      createdAt,
      expiresAt,
      invitedBy,
      linkHash: hashToken(token),
    };
    const invitation = { ...invitationFields, ...(teamId === undefined ? {} : { teamId }) };
    const { invitation: record, invitationLink, invitations, userEmails, team } = this.#names;
    const names = [
      record(invitationFields.id),
      invitationLink(invitationFields.linkHash),
      invitations,
      userEmails,
      team(teamId ?? ''),
    ];
    const args = {
      id: invitationFields.id,
      email,
      now: createdAt,
      expiresAt,
      maxOpen,
      isToTeam: teamId !== undefined,
      fields: toStoredFields(invitation),
    };
    const outcome = await createInvitation.run(this.#redis, { keys: names, args });
    if (outcome !== 'created') return outcome as 'email taken' | 'no team' | 'too many';
    return { invitation, token };
  }

  async delete({ id, linkHash }: InvitationRecord): Promise<void> {
    const { invitation, invitationLink, invitations } = this.#names;
    const steps = this.#redis.multi();
    steps.del(invitation(id), invitationLink(linkHash)).zrem(invitations, id);
    await callRedisAll(steps);
  }
}

export interface CreatedInvitation {
  invitation: InvitationRecord;
  token: string;
}
