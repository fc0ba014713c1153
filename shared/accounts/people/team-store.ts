import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { askRedis, askRedisAll } from '../redis/ask-redis.ts';
import { limitsSchema, type Limits } from '../limits/limits.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { mintId } from '../keys/mint-key.ts';
import { storedFields, storedJson } from '../redis/stored-value.ts';

const changeTeam = new RedisScript(new URL('lua/change-team.lua', import.meta.url));
const deleteTeam = new RedisScript(new URL('lua/delete-team.lua', import.meta.url));
const setMember = new RedisScript(new URL('lua/set-member.lua', import.meta.url));

export const teamRoles = ['owner', 'member'] as const;
export type TeamRole = (typeof teamRoles)[number];

const teamRecordSchema = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.coerce.number(),
  limits: storedJson(limitsSchema).optional(),
});

/** What is stored of a team, its members aside. */
export type TeamRecord = z.infer<typeof teamRecordSchema>;

/** Roles by id, of a team's members or in a person's teams. */
export type Roles = ReadonlyMap<string, TeamRole>;

/** The teams and who is in them, in Redis. Every method throws `store_unavailable` as KeyStore does. */
export class TeamStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  async find(id: string): Promise<TeamRecord | undefined> {
    const fields = await askRedis(this.#redis.hgetall(this.#names.team(id)));
    return Object.keys(fields).length === 0 ? undefined : teamRecordSchema.parse(fields);
  }

  /** Every team, oldest first. */
  async list(): Promise<TeamRecord[]> {
    return this.findAll(await askRedis(this.#redis.zrange(this.#names.teams, '0', '-1')));
  }

  /** Those of these teams that there are. */
  async findAll(ids: readonly string[]): Promise<TeamRecord[]> {
    const teams = await Promise.all(ids.map((id) => this.find(id)));
    return teams.filter((team) => team !== undefined);
  }

  /** The members of a team and their roles. */
  async membersOf(id: string): Promise<Roles> {
    return rolesOf(await askRedis(this.#redis.hgetall(this.#names.membersOf(id))));
  }

  /** The teams of a person and the roles there. */
  async teamsOf(userId: string): Promise<Roles> {
    return rolesOf(await askRedis(this.#redis.hgetall(this.#names.teamsOf(userId))));
  }

  /** Makes a team without members. */
  async create(name: string): Promise<TeamRecord> {
    const team = { id: mintId(), name, createdAt: Date.now() };
    const steps = this.#redis.multi();
    steps.hset(this.#names.team(team.id), storedFields(team)).zadd(this.#names.teams, team.createdAt, team.id);
    await askRedisAll(steps);
    return team;
  }

  /** Changes what is given. False when there is no such team. */
  async change(id: string, change: { name?: string | undefined; limits?: Limits | undefined }): Promise<boolean> {
    const args = { fields: storedFields(change) };
    return (await changeTeam.run(this.#redis, { keys: [this.#names.team(id)], args })) === 1;
  }

  /** Deletes a team and revokes its keys: tells how many these were; undefined when there is no such team. */
  async delete(id: string, now: number): Promise<number | undefined> {
    const { team, membersOf, teams, keysOf, key, teamsOf } = this.#names;
    const names = [team(id), membersOf(id), teams, keysOf(id)];
    const args = { id, now, keyPrefix: key(''), teamsOfPrefix: teamsOf('') };
    const revoked = await deleteTeam.run(this.#redis, { keys: names, args });
    return revoked === -1 ? undefined : Number(revoked);
  }

  /** Gives somebody a role in a team. Tells the role before: undefined for a new member, `unknown` when one of both does not exist. */
  async setMember(id: string, userId: string, role: TeamRole): Promise<TeamRole | 'unknown' | undefined> {
    const { team, membersOf, user, teamsOf } = this.#names;
    const names = [team(id), membersOf(id), user(userId), teamsOf(userId)];
    const before = await setMember.run(this.#redis, { keys: names, args: { teamId: id, userId, role } });
    return before === '' ? undefined : (before as TeamRole | 'unknown');
  }

  /** Takes somebody out of a team. False when they were not in it. */
  async removeMember(id: string, userId: string): Promise<boolean> {
    const steps = this.#redis.multi();
    steps.hdel(this.#names.membersOf(id), userId).hdel(this.#names.teamsOf(userId), id);
    const [removed] = await askRedisAll(steps);
    return removed === 1;
  }
}

function rolesOf(fields: Record<string, string>): Roles {
  return new Map(Object.entries(fields) as [string, TeamRole][]);
}
