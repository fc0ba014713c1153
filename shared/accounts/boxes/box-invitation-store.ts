import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { createStoredListSchema, createStoredSchema, toStoredFields } from '#shared/store/redis/stored-value.ts';
import { generateToken, isToken } from '../people/secret-token.ts';
import { isShutOut } from '../people/user.ts';
import type { UserStore } from '../people/user-store.ts';

const createInvitation = new RedisScript(new URL('lua/create-box-invitation.lua', import.meta.url));
const redeemInvitation = new RedisScript(new URL('lua/redeem-box-invitation.lua', import.meta.url));
const noteJoinedBox = new RedisScript(new URL('lua/note-joined-box.lua', import.meta.url));

/** Maximum of invitations that have not expired. */
export const maxBoxInvitations = 500;

/** Milliseconds for which an expired invitation is kept, so that a box learns that its invitation has expired. */
const keptExpiredMs = 24 * 3_600_000;

const boxInvitationSchema = z.object({
  id: z.string(),
  /** The tiers that the box may serve. A tier that this release does not define is left out. */
  tiers: createStoredListSchema(tiers),
  /** The name that the box gets; absent: one that is derived from the name of its host. */
  name: z.string().optional(),
  createdAt: z.coerce.number(),
  expiresAt: z.coerce.number(),
  /**
   * The administrator who made the invitation. It is void while that person is blocked, refused by their provider, deleted or no longer an
   * administrator. Absent: a token that belongs to nobody made it.
   */
  invitedBy: z.string().optional(),
  /** The public key of the box that has redeemed the invitation; absent: none has. */
  key: z.string().optional(),
  redeemedAt: z.coerce.number().optional(),
  /** The name of the box; absent until its tokens are issued. */
  box: z.string().optional(),
  /** The tokens of the box, by tier. They are not secret. */
  tokens: createStoredSchema(z.record(z.string(), z.string())).optional(),
});

/** The stored record of an invitation. Times in ms since 1970. */
export type BoxInvitation = z.infer<typeof boxInvitationSchema>;

export interface NewBoxInvitation {
  tiers: readonly Tier[];
  name?: string | undefined;
  invitedBy: string | undefined;
  /** Milliseconds for which the invitation can be redeemed. */
  usableMs: number;
}

/**
 * The invitations of boxes, in Redis: each is the right of one machine to join. The secret is stored only as the first 128 bits of its
 * SHA-256, which is the id. Every method throws `store_unavailable` while Redis is unavailable.
 */
export class BoxInvitationStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #users: Pick<UserStore, 'find'>;
  readonly #records: StoredRecords<BoxInvitation>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, users: Pick<UserStore, 'find'>, report: ReportUnreadable) {
    const { boxInvitation: nameOf } = (this.#names = accountNames(prefix));
    this.#redis = redis;
    this.#users = users;
    this.#records = new StoredRecords(redis, { kind: 'box invitation', schema: boxInvitationSchema, nameOf, report });
  }

  /** Creates an invitation. Only this call returns its secret. Returns undefined if there are too many. */
  async create({
    usableMs,
    ...fields
  }: NewBoxInvitation): Promise<{ invitation: BoxInvitation; secret: string } | undefined> {
    const secret = generateToken();
    const id = toId(secret);
    const now = Date.now();
    const expiresAt = now + usableMs;
    const invitation = { ...fields, tiers: [...fields.tiers], id, createdAt: now, expiresAt };
    const keys = [this.#names.boxInvitation(id), this.#names.boxInvitations];
    const keptUntil = expiresAt + keptExpiredMs;
    const args = { id, now, expiresAt, keptUntil, maxOpen: maxBoxInvitations, fields: toStoredFields(invitation) };
    return (await createInvitation.run(this.#redis, { keys, args })) === 1 ? { invitation, secret } : undefined;
  }

  /** Returns the invitations that have not expired and can be read, in the order of their expiry. */
  async list(): Promise<BoxInvitation[]> {
    const { boxInvitations } = this.#names;
    return this.#records.findAll(await callRedis(this.#redis.zrangebyscore(boxInvitations, `(${Date.now()}`, '+inf')));
  }

  /** Returns an invitation, which may have expired; undefined if there is none with this id. */
  find(id: string): Promise<BoxInvitation | undefined> {
    return this.#records.find(id);
  }

  /** Withdraws an invitation. A box that has joined with it stays. */
  async delete(id: string): Promise<void> {
    const { boxInvitation, boxInvitations } = this.#names;
    await callRedisAll(this.#redis.multi().del(boxInvitation(id)).zrem(boxInvitations, id));
  }

  /**
   * Binds the invitation of a secret to the public key of a box, and returns the invitation. The box may repeat this until the invitation
   * expires.
   * @returns `used` if another box has redeemed the invitation
   */
  async redeem(secret: string, key: string): Promise<BoxInvitation | 'unknown' | 'expired' | 'used'> {
    const id = isToken(secret) ? toId(secret) : undefined;
    const found = id === undefined ? undefined : await this.find(id);
    if (!found || !(await this.#mayInvite(found.invitedBy))) return 'unknown';
    const keys = [this.#names.boxInvitation(found.id)];
    const outcome = await redeemInvitation.run(this.#redis, { keys, args: { now: Date.now(), key } });
    if (outcome !== 'bound') return outcome as 'unknown' | 'expired' | 'used';
    return (await this.find(found.id)) ?? 'unknown';
  }

  /** Stores what the box of an invitation is answered, so that a repeated request gets the same answer. */
  async noteJoined(id: string, joined: { box: string; tokens: Readonly<Record<string, string>> }): Promise<void> {
    const args = { fields: toStoredFields(joined) };
    await noteJoinedBox.run(this.#redis, { keys: [this.#names.boxInvitation(id)], args });
  }

  async #mayInvite(inviterId: string | undefined): Promise<boolean> {
    if (inviterId === undefined) return true;
    const inviter = await this.#users.find(inviterId);
    return inviter?.role === 'admin' && !isShutOut(inviter);
  }
}

function toId(secret: string): string {
  return hash('sha256', secret, 'hex').slice(0, 32);
}
