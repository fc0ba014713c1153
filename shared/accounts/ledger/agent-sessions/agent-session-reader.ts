import type { Redis } from 'ioredis';
import { maySee, usageRecordSchema, type UsageRecord, type UsageViewer } from '../usage-record.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { readNewest, type TimedPlace } from '#shared/store/redis/read-newest.ts';
import { readStored, warnUnreadable, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import {
  readModels,
  readSession,
  readTree,
  type AgentSession,
  type AgentSessionTree,
  type ModelSums,
} from './agent-session.ts';
import { listKeptDays, parseSessionOwner, type SessionOwner, sessionRedisNames } from './session-names.ts';
import {
  addSums,
  decodeSumsRow,
  encodeSumsRow,
  createZeroSums,
  readSums,
  sumAll,
  type SessionSums,
} from './session-sums.ts';

const entrySchema = createStoredSchema(usageRecordSchema);

const sessionsPerCall = 50;

export interface OwnerSums {
  owner: SessionOwner;
  sums: SessionSums;
  /** Ordered by cost, the most expensive first. */
  models: ModelSums[];
  /** Sums by key id, the most expensive first. An empty id stands for the keys beyond the maximum. */
  keys: { key: string; sums: SessionSums }[];
}

/** Reads the agent sessions that `writeSessions` writes. Every method throws RouterError `store_unavailable` while Redis is unavailable. */
export class AgentSessionReader {
  readonly #redis: Redis;
  readonly #requestStream: string;
  readonly #names: ReturnType<typeof sessionRedisNames>;
  readonly #keptMs: number;
  readonly #report: ReportUnreadable;

  /** @param keptMs milliseconds for which sessions are kept */
  constructor(redis: Redis, prefix: string, keptMs: number, report: ReportUnreadable = warnUnreadable) {
    this.#redis = redis;
    this.#requestStream = `${prefix}usage:requests`;
    this.#names = sessionRedisNames(prefix);
    this.#keptMs = keptMs;
    this.#report = report;
  }

  /**
   * Returns the sessions that a viewer may see. The session with the latest turn comes first.
   * @param owner restricts the list to the sessions of this owner
   * @param after `next` of the previous page
   * @returns `next` is the position after which the next page begins; undefined on the last page
   */
  async list(
    viewer: UsageViewer,
    owner: SessionOwner | undefined,
    limit: number,
    after?: TimedPlace,
  ): Promise<{ sessions: AgentSession[]; next: TimedPlace | undefined }> {
    const { all, ofOwner } = this.#names;
    const names = owner === undefined && viewer.isAdmin ? [all] : findVisibleOwners(viewer, owner).map(ofOwner);
    const page = await readNewest(this.#redis, names, limit, after, Date.now() - this.#keptMs);
    // The members of the list of all sessions also have the owner.
    const ids = page.map(({ member }) => member.slice(member.lastIndexOf('/') + 1));
    return { sessions: await this.#readSessions(ids), next: page.length < limit ? undefined : page.at(-1) };
  }

  /** Returns a session; undefined if it does not exist or the viewer may not see it. */
  async find(viewer: UsageViewer, id: string): Promise<AgentSession | undefined> {
    const [session] = await this.#readSessions([id]);
    return session && maySee(viewer, parseSessionOwner(session.owner, session.key)) ? session : undefined;
  }

  /** Returns a session with its agents. Reading the agents takes a hundred times as long as reading the session. */
  async findTree(viewer: UsageViewer, id: string): Promise<AgentSessionTree | undefined> {
    const session = await this.find(viewer, id);
    return session && { ...session, ...readTree(await callRedis(this.#redis.hgetall(this.#names.agents(id)))) };
  }

  /** Returns, for each agent in order, whether a turn of the agent has ended and the agent has sums of its own. */
  async haveTurns(agents: readonly { session: string; agent: string }[]): Promise<boolean[]> {
    if (agents.length === 0) return [];
    const commands = this.#redis.pipeline();
    for (const { session, agent } of agents) commands.hexists(this.#names.agents(session), `@${agent}`);
    return ((await callRedisAll(commands)) as number[]).map((found) => found === 1);
  }

  /**
   * Returns the turns of a session that the usage ledger still has, newest first.
   * @param before `next` of the previous page
   * @returns `next` is the cursor of the next page; undefined on the last page
   */
  async listTurns(
    id: string,
    limit: number,
    before?: string,
  ): Promise<{ turns: UsageRecord[]; next: string | undefined }> {
    const entryIds = await callRedis(this.#redis.lrange(this.#names.turns(id), 0, -1));
    const olderIds = before === undefined ? entryIds : entryIds.filter((entryId) => isOlderEntry(entryId, before));
    const pageIds = olderIds.slice(-limit).reverse();
    const commands = this.#redis.multi();
    for (const entryId of pageIds) commands.xrange(this.#requestStream, entryId, entryId);
    const answers = pageIds.length === 0 ? [] : ((await callRedisAll(commands)) as [string, string[]][][]);
    const turns = answers.flat().flatMap(([entryId, fields]): UsageRecord[] => {
      const read = readStored(entrySchema, fields[1]);
      if ('value' in read) return [read.value];
      this.#report(`request ${entryId}`, read.reason);
      return [];
    });
    // The ledger drops the oldest turns first, so a page without turns is the last page.
    const hasMore = olderIds.length > pageIds.length && turns.length > 0;
    return { turns, next: hasMore ? pageIds.at(-1) : undefined };
  }

  /** Returns the sums of each owner's sessions over all days whose sums are stored. */
  async sumByOwner(owners: readonly SessionOwner[]): Promise<OwnerSums[]> {
    const days = listKeptDays(this.#keptMs);
    const commands = this.#redis.multi();
    for (const owner of owners) for (const day of days) commands.hgetall(this.#names.day(owner, day));
    const answers = owners.length === 0 ? [] : ((await callRedisAll(commands)) as Record<string, string>[]);
    return owners.map((owner, index) => ({
      owner,
      ...sumDays(answers.slice(index * days.length, (index + 1) * days.length)),
    }));
  }

  async #readSessions(ids: readonly string[]): Promise<AgentSession[]> {
    const sessions: AgentSession[] = [];
    for (let from = 0; from < ids.length; from += sessionsPerCall) {
      const batch = ids.slice(from, from + sessionsPerCall);
      const commands = this.#redis.pipeline();
      for (const id of batch) commands.hgetall(this.#names.session(id));
      const answers = (await callRedisAll(commands)) as Record<string, string>[];
      for (const [index, id] of batch.entries()) {
        const fields = answers[index] ?? {};
        if (Object.keys(fields).length === 0) continue;
        const session = readSession(id, fields);
        if (session) sessions.push(session);
        else this.#report(`agent session ${id}`, 'its facts');
      }
    }
    return sessions;
  }
}

/** Returns the owners whose sessions the viewer may see. If `owner` is defined, returns no other owner. */
function findVisibleOwners(viewer: UsageViewer, owner: SessionOwner | undefined): SessionOwner[] {
  if (owner !== undefined) return maySee(viewer, parseSessionOwner(owner)) ? [owner] : [];
  const own: SessionOwner[] = viewer.userId === '' ? [] : [`user:${viewer.userId}`];
  return [...own, ...viewer.teamIds.map((id) => `team:${id}` as const)];
}

/** Returns whether the first of two ids of stream entries, `<ms>-<count>`, is older than the second. */
function isOlderEntry(id: string, otherId: string): boolean {
  const [ms = 0, count = 0] = id.split('-').map(Number);
  const [otherMs = 0, otherCount = 0] = otherId.split('-').map(Number);
  return ms < otherMs || (ms === otherMs && count < otherCount);
}

function sumDays(days: readonly Record<string, string>[]): Omit<OwnerSums, 'owner'> {
  const rows = new Map<string, SessionSums>();
  for (const fields of days) {
    for (const [text, sums] of readSums(fields)) {
      const sum = rows.get(text);
      if (sum) addSums(sum, sums);
      else rows.set(text, sums);
    }
  }
  const keys = [...rows].flatMap(([text, sums]) => {
    const row = decodeSumsRow(text);
    return row?.kind === 'key' ? [{ key: row.key, sums }] : [];
  });
  const sessionCounts = rows.get(encodeSumsRow({ kind: 'all' })) ?? createZeroSums();
  return {
    sums: sumAll([sessionCounts, ...keys.map(({ sums }) => sums)]),
    models: readModels(rows),
    keys: keys.sort((a, b) => b.sums.cost - a.sums.cost || b.sums.requests - a.sums.requests),
  };
}
