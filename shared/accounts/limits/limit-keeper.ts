import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { LimitedParty, PartyLimits } from './limits.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { explainExcess, explainRefusal, findPartiesOverRate, findSpentBudgets } from './explain-refusal.ts';
import { toScriptAmount, readPartyUses, toScriptParty, type Amount, type PartyUse } from './party-use.ts';
import { RefusedBudgets } from './refused-budgets.ts';
import type { Share } from './share.ts';
import { Shares } from './shares.ts';

const scripts = {
  reserve: createScript('reserve'),
  commit: createScript('commit'),
  renew: createScript('renew'),
  share: createScript('share'),
  readUse: createScript('read-use'),
};

const retryMs = 1_000;

/**
 * Maximum number of finished requests that wait for their commit while Redis is unavailable. The use of further requests is not counted.
 */
const maxUncommitted = 100_000;

const reservationsAtOnce = 500;

const partiesAtOnce = 200;

/** Milliseconds for which a party that is over its limit of requests per minute is refused without further calls to Redis. */
const refusedMs = 1_000;

/** Maximum number of parties in memory that are refused without calls to Redis. */
const maxRefused = 10_000;

const closeMs = 2_000;

/** Times of a LimitKeeper, in milliseconds. */
export interface LimitKeeperTimes {
  /** How long a reservation lasts after it was made or renewed. Default 60 s. */
  reservationMs?: number;
  /** How often reservations are renewed. Default 20 s. */
  renewEveryMs?: number;
}

/** The reservation of one request. Only the first call of either method has an effect. */
export interface Reservation {
  /** Replaces the reservation by the actual use. Both amounts are 0 if the request failed before it cost anything. */
  commit(spent: Amount): void;
  /** Ends the reservation of a request that cost nothing. */
  release(): void;
}

/** The decision on a request. `uses` is the use of its parties after the decision. */
export type ReserveResult =
  | { granted: true; reservation: Reservation; uses: readonly PartyUse[] }
  | { granted: false; error: RouterError; uses: readonly PartyUse[] };

/**
 * Keeps requests within the limits of all parties that they concern. Before a request begins, LimitKeeper reserves the most that the
 * request may cost, for all of these parties or for none. When the request ends, its actual use is committed. So simultaneous requests
 * never exceed a limit together, on any number of nodes.
 *
 * A reservation lasts for a minute and is renewed while its request lives. The reservations of a killed node thus end after a minute, and
 * count as unused. While requests are frequent and all limits are far from reached, requests draw on a share that this node has reserved in
 * advance (see Share). Otherwise each request calls Redis. Use that cannot be committed because Redis is unavailable is committed later, as
 * long as this process lives. The use of a request counts in the day and the month (UTC) in which it began. Limits per minute are buckets:
 * requests may use the whole limit at once. It then becomes available again evenly, within a minute.
 *
 * All numbers are whole. All state is in Redis, under `<prefix>limit:` (see `lua/reservations.lua`). Redis must not evict keys. If Redis
 * loses its data, the recorded use is lost, too.
 */
export class LimitKeeper {
  readonly refusedBudgets: RefusedBudgets;
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #reservationMs: number;
  readonly #reservedIds = new Set<string>();
  /** The actual use of finished requests, by the id of the reservation, until it is committed. */
  readonly #uncommitted = new Map<string, Amount>();
  /**
   * Refusals of parties that are over their limit of requests per minute. Each refusal is repeated until `until`, a time of
   * performance.now().
   */
  readonly #refusals = new Map<LimitedParty, { error: RouterError; until: number }>();
  readonly #shares: Shares;
  readonly #timers: NodeJS.Timeout[];
  #retrying = false;
  /** Whether use was lost, because too many requests were uncommitted, since all use was committed for the last time. */
  #isLosingUse = false;

  constructor(redis: Redis, prefix: string, log: Logger, times: LimitKeeperTimes = {}) {
    this.#redis = redis;
    this.#prefix = `${prefix}limit:`;
    this.#log = log;
    this.refusedBudgets = new RefusedBudgets(redis, this.#prefix, log);
    const { reservationMs = 60_000, renewEveryMs = 20_000 } = times;
    this.#reservationMs = reservationMs;
    this.#shares = new Shares(
      {
        redis,
        log,
        report: (args) => this.#run('share', args),
        remove: (id) => this.#run('commit', { id, tokens: 0, cost: 0 }),
      },
      { keepMs: reservationMs, renewEveryMs },
    );
    this.#timers = [
      setInterval(() => void this.#renew(), renewEveryMs),
      setInterval(() => void this.#retryCommits(), retryMs),
    ];
  }

  /** Number of running requests that have a reservation. */
  get reserved(): number {
    return this.#reservedIds.size + this.#shares.running;
  }

  /** Number of finished requests whose use is not committed yet. */
  get uncommitted(): number {
    return this.#uncommitted.size + this.#shares.uncounted;
  }

  /**
   * Returns the refusal that any request of these parties would get; undefined if only Redis can decide. A flood of requests beyond a limit
   * is thus refused without reading bodies and without calls to Redis.
   */
  findKnownRefusal(parties: readonly PartyLimits[]): RouterError | undefined {
    if (this.#refusals.size === 0) return undefined;
    const now = performance.now();
    return parties.map(({ party }) => this.#refusals.get(party)).find((refusal) => refusal && refusal.until > now)
      ?.error;
  }

  /**
   * Reserves the most that a request may cost, for all parties or none.
   * @throws RouterError `store_unavailable`, because a request that cannot be counted is not served
   */
  async reserve(parties: readonly PartyLimits[], wanted: Amount): Promise<ReserveResult> {
    const amount = toScriptAmount(wanted);
    const now = performance.now();
    const share = this.#shares.get(parties, now);
    if (this.#redis.status === 'ready' && share?.draw(amount, now)) return this.#grantFromShare(share, amount);
    const confirmed = share?.confirmedReports ?? 0;
    const decision = await this.#reserveInRedis(parties, amount);
    if (!share) return decision;
    const isFinal = decision.granted || decision.error.code === 'request_exceeds_limit';
    if (isFinal || !share.hasRoom) return { ...decision, uses: share.observe(decision.uses, confirmed) };
    // The free room of the share may have caused the refusal. So the room is released, and Redis decides once more.
    await this.#shares.giveBack(share);
    return this.#reserveInRedis(parties, amount);
  }

  #grantFromShare(share: Share, amount: Amount): ReserveResult {
    let hasEnded = false;
    const end = (spent: Amount): void => {
      if (hasEnded) return;
      hasEnded = true;
      this.#shares.finish(share, amount, toScriptAmount(spent));
    };
    const reservation = { commit: end, release: () => end({ tokens: 0, cost: 0 }) };
    return { granted: true, reservation, uses: share.readUses() };
  }

  async #reserveInRedis(parties: readonly PartyLimits[], amount: Amount): Promise<ReserveResult> {
    const excess = explainExcess(parties, amount);
    if (excess) return { granted: false, error: excess, uses: await this.read(parties) };
    const id = randomUUID();
    let reply: number[];
    const isSent = this.#redis.status === 'ready';
    try {
      const args = { id, keepMs: this.#reservationMs, ...amount, parties: parties.map(toScriptParty) };
      reply = await this.#run('reserve', args);
    } catch (error) {
      // Redis may have executed a call that was sent. A call that was not sent gets no commit, because the number of waiting commits is
      // bounded.
      if (isSent) this.#commit(id, { tokens: 0, cost: 0 });
      throw error;
    }
    const [granted, ...rest] = reply;
    const uses = readPartyUses(parties, rest);
    if (granted !== 1) {
      this.refusedBudgets.note(findSpentBudgets(uses, amount), uses[0]?.at ?? Date.now());
      const error = explainRefusal(uses, amount);
      this.#rememberRefusal(findPartiesOverRate(uses, amount), error);
      return { granted: false, error, uses };
    }
    this.#reservedIds.add(id);
    return {
      granted: true,
      uses,
      reservation: {
        commit: (spent) => this.#endReservation(id, spent),
        release: () => this.#endReservation(id, { tokens: 0, cost: 0 }),
      },
    };
  }

  #rememberRefusal(parties: readonly LimitedParty[], error: RouterError): void {
    if (this.#refusals.size >= maxRefused) this.#refusals.clear();
    for (const party of parties) this.#refusals.set(party, { error, until: performance.now() + refusedMs });
  }

  /**
   * Returns what parties have used of their limits.
   * @throws RouterError `store_unavailable`
   */
  async read(parties: readonly PartyLimits[]): Promise<PartyUse[]> {
    const uses: PartyUse[] = [];
    for (let from = 0; from < parties.length; from += partiesAtOnce) {
      const page = parties.slice(from, from + partiesAtOnce);
      uses.push(...readPartyUses(page, await this.#run('readUse', { parties: page.map(toScriptParty) })));
    }
    return uses;
  }

  /** Commits the use of finished requests, for two seconds at most. The reservations of running requests expire. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#shares.close();
    const deadline = performance.now() + closeMs;
    while (!(await this.#flush()) && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await this.#shares.end();
    if (this.uncommitted > 0) this.#log.error({ requests: this.uncommitted }, 'some use could not be counted');
  }

  async #flush(): Promise<boolean> {
    if (this.#uncommitted.size > 0) await this.#retryCommits();
    const areSharesFlushed = await this.#shares.flush();
    return areSharesFlushed && this.#uncommitted.size === 0;
  }

  #endReservation(id: string, spent: Amount): void {
    if (this.#reservedIds.delete(id)) this.#commit(id, spent);
  }

  #commit(id: string, spent: Amount): void {
    if (this.#uncommitted.size >= maxUncommitted) {
      if (!this.#isLosingUse) this.#log.error('Redis is away for too long: use is not counted against limits any more');
      this.#isLosingUse = true;
      return;
    }
    this.#uncommitted.set(id, toScriptAmount(spent));
    // The commit is sent at once, so that Redis gets it before the next request of the same client. If it fails, it is tried again.
    this.#tryCommit(id, toScriptAmount(spent)).catch((error: unknown) =>
      this.#log.debug({ err: error }, 'use is not counted yet'),
    );
  }

  async #tryCommit(id: string, { tokens, cost }: Amount): Promise<void> {
    await this.#run('commit', { id, tokens, cost });
    this.#uncommitted.delete(id);
    if (this.#uncommitted.size === 0) this.#isLosingUse = false;
  }

  async #retryCommits(): Promise<void> {
    if (this.#retrying) return;
    this.#retrying = true;
    try {
      const waiting = [...this.#uncommitted];
      for (let from = 0; from < waiting.length; from += reservationsAtOnce) {
        await Promise.all(
          waiting.slice(from, from + reservationsAtOnce).map(([id, spent]) => this.#tryCommit(id, spent)),
        );
      }
    } catch (error) {
      this.#log.debug({ err: error }, 'use is not counted yet');
    } finally {
      this.#retrying = false;
    }
  }

  async #renew(): Promise<void> {
    const ids = [...this.#reservedIds];
    try {
      for (let from = 0; from < ids.length; from += reservationsAtOnce) {
        await this.#run('renew', { keepMs: this.#reservationMs, ids: ids.slice(from, from + reservationsAtOnce) });
      }
    } catch (error) {
      this.#log.debug({ err: error }, 'reservations could not be renewed');
    }
  }

  async #run(name: keyof typeof scripts, args: Record<string, unknown>): Promise<number[]> {
    const reply = await scripts[name].run(this.#redis, { args: { prefix: this.#prefix, ...args } });
    return Array.isArray(reply) ? reply.map(Number) : [Number(reply)];
  }
}

/** Creates a script of this folder, with `reservations.lua` in front. */
function createScript(name: string): RedisScript {
  return new RedisScript(...['reservations', name].map((file) => new URL(`lua/${file}.lua`, import.meta.url)));
}
