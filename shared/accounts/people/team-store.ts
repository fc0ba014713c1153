import type { Redis } from 'ioredis';
import { z } from 'zod';
import { ceilingNames, storedCeilingSchema, type Ceiling } from './ceiling.ts';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll, readHash } from '#shared/store/redis/call-redis.ts';
import { limitNames, storedLimitsSchema, storedWeightSchema, type Limits } from '../limits/limits.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { recordingSwitchSchema, type RecordingSwitch } from '../recordings/recording.ts';
import { createStoredSchema, replaceJson, revisionSchema, toStoredFields } from '#shared/store/redis/stored-value.ts';
import { generateId } from '../keys/generate-key.ts';
import { StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';

const changeTeam = new RedisScript(new URL('lua/change-team.lua', import.meta.url));
const setMember = new RedisScript(new URL('lua/set-member.lua', import.meta.url));

export const teamRoles = ['owner', 'member'] as const;
export type TeamRole = (typeof teamRoles)[number];

const teamRecordSchema = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: z.coerce.number(),
  limits: storedLimitsSchema.optional(),
  weight: storedWeightSchema,
  ceiling: storedCeilingSchema.optional(),
  /** Absent or null if the requests of the team's keys are not recorded. A value that cannot be read counts as absent. */
  records: createStoredSchema(recordingSwitchSchema.nullable()).optional().catch(undefined),
  revision: revisionSchema,
});

/** The stored record of a team, without its members. */
export type TeamRecord = z.infer<typeof teamRecordSchema>;

export interface TeamChange {
  name?: string | undefined;
  limits?: Limits | undefined;
  weight?: number | undefined;
  ceiling?: Ceiling | undefined;
  /** Null if the requests of the team's keys are no longer to be recorded. */
  records?: RecordingSwitch | null | undefined;
}

/**
 * Returns the form in which names of teams are compared. The names of two teams must differ in more than case, compatible characters and
 * white space.
 */
export function foldTeamName(name: string): string {
  // Upper case comes first, because the upper case of ß is SS, and both lower-case forms of sigma have the same upper case.
  const folded = name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
  return folded.replace(/\s+/gu, ' ').trim();
}

/** The roles of a team's members by the member's id, or the roles of a person by the team's id. */
export type Roles = ReadonlyMap<string, TeamRole>;

/** The teams and their members, in Redis. Every method throws `store_unavailable` while Redis is unavailable. */
export class TeamStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #records: StoredRecords<TeamRecord>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    const names = accountNames(prefix);
    this.#redis = redis;
    this.#names = names;
    this.#records = new StoredRecords(redis, { kind: 'team', schema: teamRecordSchema, nameOf: names.team, report });
  }

  /**
   * Returns a team; undefined if there is no such team.
   * @throws UnreadableRecordError
   */
  find(id: string): Promise<TeamRecord | undefined> {
    return this.#records.find(id);
  }

  /** Returns every team that can be read, oldest first. */
  async list(): Promise<TeamRecord[]> {
    return this.findAll(await callRedis(this.#redis.zrange(this.#names.teams, '0', '-1')));
  }

  findAll(ids: readonly string[]): Promise<TeamRecord[]> {
    return this.#records.findAll(ids);
  }

  async membersOf(id: string): Promise<Roles> {
    return toRoles(await readHash(this.#redis, this.#names.membersOf(id)));
  }

  async teamsOf(userId: string): Promise<Roles> {
    return toRoles(await readHash(this.#redis, this.#names.teamsOf(userId)));
  }

  async create(name: string): Promise<TeamRecord> {
    const team = { id: generateId(), name, createdAt: Date.now() };
    const steps = this.#redis.multi();
    steps.hset(this.#names.team(team.id), toStoredFields(team)).zadd(this.#names.teams, team.createdAt, team.id);
    await callRedisAll(steps);
    return team;
  }

  /** Changes the fields in `change`. Returns `stale` if the revision of the team is not `ifRevision`. */
  async change(id: string, change: TeamChange, ifRevision?: number): Promise<'changed' | 'stale' | 'unknown'> {
    const { limits, ceiling } = change;
    const name = this.#names.team(id);
    const storedLimits = limits && replaceJson(await callRedis(this.#redis.hget(name, 'limits')), limits, limitNames);
    const storedCeiling =
      ceiling && replaceJson(await callRedis(this.#redis.hget(name, 'ceiling')), ceiling, ceilingNames);
    const args = { ifRevision, fields: toStoredFields({ ...change, limits: storedLimits, ceiling: storedCeiling }) };
    return (await changeTeam.run(this.#redis, { keys: [name], args })) as 'changed' | 'stale' | 'unknown';
  }

  /**
   * Sets the role of a person in a team.
   * @param onlyNew whether to leave the role of an existing member unchanged
   * @returns the previous role; undefined for a new member; `unknown` if the team or the person does not exist
   */
  async setMember(
    id: string,
    userId: string,
    role: TeamRole,
    { onlyNew = false }: { onlyNew?: boolean } = {},
  ): Promise<TeamRole | 'unknown' | undefined> {
    const { team, membersOf, user, teamsOf } = this.#names;
    const names = [team(id), membersOf(id), user(userId), teamsOf(userId)];
    const before = await setMember.run(this.#redis, { keys: names, args: { teamId: id, userId, role, onlyNew } });
    if (before === '') return undefined;
    return before === 'unknown' ? before : toKnownRole(String(before));
  }

  /** Removes a person from a team. Returns false when the person was not in the team. */
  async removeMember(id: string, userId: string): Promise<boolean> {
    const steps = this.#redis.multi();
    steps.hdel(this.#names.membersOf(id), userId).hdel(this.#names.teamsOf(userId), id);
    const [removed] = await callRedisAll(steps);
    return removed === 1;
  }
}

function toRoles(fields: Record<string, string> = {}): Roles {
  return new Map(Object.entries(fields).map(([id, role]) => [id, toKnownRole(role)]));
}

/** Returns a role that this release defines. Any other role counts as `member`, the lowest one. */
function toKnownRole(role: string): TeamRole {
  return role === 'owner' ? role : 'member';
}
