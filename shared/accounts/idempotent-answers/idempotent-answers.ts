import { createHash, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { askRedis, storeUnavailable } from '../redis/ask-redis.ts';
import { RedisScript, scriptStart } from '../redis/redis-script.ts';
import type { OwnerKeys } from '../secrets/owner-keys.ts';
import type { IdempotencyBounds } from './idempotency-settings.ts';

const common = [scriptStart, new URL('lua/answers.lua', import.meta.url)];
const addEntry = new URL('lua/add-entry.lua', import.meta.url);
const claimKey = new RedisScript(...common, new URL('lua/claim.lua', import.meta.url));
const appendEvents = new RedisScript(...common, addEntry, new URL('lua/append.lua', import.meta.url));
const renewLease = new RedisScript(...common, new URL('lua/renew.lua', import.meta.url));
const finishAnswer = new RedisScript(...common, addEntry, new URL('lua/finish.lua', import.meta.url));
const abandonAnswer = new RedisScript(...common, new URL('lua/abandon.lua', import.meta.url));
const readAnswer = new RedisScript(...common, new URL('lua/read.lua', import.meta.url));

/** Milliseconds for which an answer that is over is kept. */
export const keptMs = 600_000;

/** Milliseconds after which the key of an execution whose node has died is free. */
const leaseMs = 6_000;

/** Milliseconds for which somebody who has read counts as waiting for more. */
const followerMs = 3_500;

/** Entries that are read at once at most, and bytes after which no more are. */
const entriesAtOnce = 50;
const bytesAtOnce = 256 * 1024;

/** What a key was used for. */
export interface RequestFacts {
  /** Method and path. */
  endpoint: string;
  /** Digest of the body; absent as long as it arrives. */
  digest?: string | undefined;
}

/** Status and headers of an answer. */
export interface AnswerHead {
  status: number;
  headers: Record<string, string>;
  /** Id of the request that was executed. */
  requestId: string;
  /** Whether it is a stream of events, which are numbered. */
  isEvents: boolean;
}

/** One execution of a request with a key. */
export interface KeyedAttempt {
  owner: string;
  /** Digest of the key. */
  id: string;
  attempt: string;
}

/** What became of a claim. */
export type Claim =
  /** It is for the caller to execute the request, as the execution of the key with this number. */
  | { outcome: 'claimed'; of: KeyedAttempt; number: number }
  /** Somebody executes, or has executed, a request with the key. */
  | { outcome: 'taken'; of: KeyedAttempt; isOver: boolean; facts: RequestFacts }
  | { outcome: 'unknown' };

/** What is added to an answer. */
export interface AnswerEntry {
  /** Number of the first and of the last event in `bytes`. */
  from: number;
  last: number;
  bytes: Uint8Array | undefined;
  head: AnswerHead | undefined;
  /** What is known of the request by now, if that is more. */
  facts: RequestFacts | undefined;
}

/** Events that were added together. */
export interface ReadEntry {
  /** Number of the last one. */
  last: number;
  bytes: Buffer;
}

/** What is read of an answer at once. */
export interface ReadAnswer {
  /** `gone` if whoever executed it has died. */
  state: 'running' | 'gone' | 'whole' | 'cut' | 'cancelled';
  /** How many executions of the key came before this one. */
  number: number;
  /** Number of the next event. */
  next: number;
  /** Whether there was no room for it, so that it is not kept. */
  isLost: boolean;
  /** Like `head`, absent from what follows an event: who asks for that has read it before. */
  facts: RequestFacts | undefined;
  head: AnswerHead | undefined;
  /** Further ones may follow. The first one may have events that are older than was asked for. */
  entries: ReadEntry[];
}

/**
 * The answers to requests with an idempotency key, while they are made and for a while afterwards. Keys belong to their owner: those of
 * another owner are others. What is kept is sealed with a key of the owner. Every method throws RouterError `store_unavailable` when Redis
 * does not answer.
 */
export class IdempotentAnswers {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #bounds: IdempotencyBounds;
  readonly #keys: Pick<OwnerKeys, 'storeSealer'>;
  /** When Redis was there again, or for the first time, ms of `performance.now()`. */
  #thereSince = Number.NEGATIVE_INFINITY;

  /** @param prefix what all names in Redis begin with */
  constructor(
    redis: Redis,
    prefix: string,
    { bounds, keys }: { bounds: IdempotencyBounds; keys: Pick<OwnerKeys, 'storeSealer'> },
  ) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#bounds = bounds;
    this.#keys = keys;
    redis.on('ready', () => (this.#thereSince = performance.now()));
  }

  /** Bytes of one answer at most, as they are in Redis. */
  get answerBytes(): number {
    return this.#bounds.answerBytes;
  }

  /**
   * Claims a key.
   * @param isResumed whether the request goes on with an answer, and is never executed
   * @param attempt id of the execution; who claims again, because the reply was lost, names the same one
   * @throws RouterError `rate_limit_exceeded` if the owner has too many keys, or there is no room for another one
   */
  async claim(
    owner: string,
    key: string,
    facts: RequestFacts,
    isResumed: boolean,
    attempt = newAttempt(),
  ): Promise<Claim> {
    const id = createHash('sha256').update(key).digest('hex');
    const { ownerKeys, ownerBytes, totalBytes } = this.#bounds;
    const mine = { owner, id, attempt };
    const bounds = { ownerKeys, ownerBytes, totalBytes };
    const args = { ...mine, leaseMs, keepMs: keptMs, isResumed, ...bounds, wasAway: this.#wasAway };
    const texts = [this.#sealer(owner).seal(JSON.stringify(facts))];
    const reply = await claimKey.run(this.#redis, { args: { prefix: this.#prefix, ...args }, texts });
    const [outcome, ...rest] = Array.isArray(reply) ? reply.map(String) : [];
    switch (outcome) {
      case 'claimed':
        return { outcome, of: mine, number: Number(rest[0]) };
      case 'taken': {
        const [state, other = '', sealed = ''] = rest;
        const of = { owner, id, attempt: other };
        return { outcome, of, isOver: state === 'over', facts: opened(this.#sealer(owner), sealed) as RequestFacts };
      }
      case 'unknown':
        return { outcome };
      default: {
        const message = 'There are too many idempotency keys that are known at once; each is for ten minutes.';
        throw new RouterError('rate_limit_exceeded', message, { retryAfter: 10 });
      }
    }
  }

  /** Adds to an answer. @returns whether that is kept, or that the execution has not got its key any more */
  async append(of: KeyedAttempt, entry: AnswerEntry): Promise<'kept' | 'lost' | 'superseded'> {
    const outcome = await appendEvents.run(this.#redis, await this.#entryInput(of, entry));
    return outcome === 1 ? 'kept' : outcome === -1 ? 'lost' : 'superseded';
  }

  /** Keeps the key of an execution for it. @returns how many wait for the answer elsewhere; -1 if it has not got the key any more */
  async renew(of: KeyedAttempt): Promise<number> {
    const args = { prefix: this.#prefix, ...of, leaseMs, keepMs: keptMs };
    return Number(await renewLease.run(this.#redis, { args }));
  }

  /**
   * Ends an execution.
   * @param end `cut` for an answer whose connection was closed midway
   * @param isFree whether the next request with the key is executed
   */
  async finish(of: KeyedAttempt, entry: AnswerEntry, end: 'whole' | 'cut', isFree: boolean): Promise<void> {
    const { args, texts } = await this.#entryInput(of, entry);
    await finishAnswer.run(this.#redis, { args: { ...args, kind: end, isFree, keepMs: keptMs }, texts });
  }

  /** Gives up an execution whose client is gone, unless others wait for its answer. @returns how many do */
  async abandon(of: KeyedAttempt): Promise<number> {
    return Number(await abandonAnswer.run(this.#redis, { args: { prefix: this.#prefix, ...of, keepMs: keptMs } }));
  }

  /**
   * Reads of an answer what follows an event, and says that a follower waits for it; undefined if there is no such answer any more.
   * @param after number of the event; -1 for the whole answer
   */
  async read(of: KeyedAttempt, follower: string, after: number): Promise<ReadAnswer | undefined> {
    const bounds = { most: entriesAtOnce, mostBytes: bytesAtOnce };
    const args = { ...of, follower, followerMs, after, ...bounds, wasAway: this.#wasAway };
    const reply = await readAnswer.run(this.#redis, { args: { prefix: this.#prefix, ...args } });
    const [state, kind, number, next, isLost, isGone, facts, head, ...rest] = Array.isArray(reply)
      ? reply.map(String)
      : [];
    if (state === undefined) return undefined;
    // Deriving it takes as long as opening what was sealed.
    const sealer = this.#sealer(of.owner);
    const open = (sealed = ''): unknown => (sealed === '' ? undefined : opened(sealer, sealed));
    return {
      state: state === 'running' ? (isGone === '1' ? 'gone' : 'running') : endOf(kind),
      number: Number(number),
      next: Number(next),
      isLost: isLost === '1',
      facts: open(facts) as RequestFacts | undefined,
      head: open(head) as AnswerHead | undefined,
      entries: rest.flatMap((last, at) =>
        at % 2 === 0 ? [{ last: Number(last), bytes: sealer.unsealBytes(rest[at + 1] ?? '') ?? unreadable() }] : [],
      ),
    };
  }

  /** Says that a follower waits no more. */
  async leave({ owner, id }: KeyedAttempt, follower: string): Promise<void> {
    await askRedis(this.#redis.zrem(`${this.#prefix}idempotent-followers:${owner}:${id}`, follower));
  }

  /** Whether leases may be over that nobody could renew, because Redis was away. */
  get #wasAway(): boolean {
    return performance.now() - this.#thereSince < leaseMs;
  }

  async #entryInput(of: KeyedAttempt, { from, last, bytes, head, facts }: AnswerEntry) {
    const { answerBytes, ownerBytes, totalBytes } = this.#bounds;
    const sealer = this.#sealer(of.owner);
    const json = (value: object | undefined): string => (value === undefined ? '' : sealer.seal(JSON.stringify(value)));
    const texts = [bytes === undefined ? '' : await sealer.sealBytes([bytes]), json(head), json(facts)];
    return { args: { prefix: this.#prefix, ...of, from, last, answerBytes, ownerBytes, totalBytes }, texts };
  }

  #sealer(owner: string): Sealer {
    const sealer = this.#keys.storeSealer(owner);
    if (!sealer) throw storeUnavailable('the secret of the cluster is not known yet');
    return sealer;
  }
}

/** The id of an execution. */
export function newAttempt(): string {
  return `ia_${randomUUID()}`;
}

function endOf(kind: string | undefined): 'whole' | 'cut' | 'cancelled' {
  return kind === 'cut' || kind === 'cancelled' ? kind : 'whole';
}

function opened(sealer: Sealer, sealed: string): unknown {
  return JSON.parse(sealer.unseal(sealed) ?? unreadable());
}

function unreadable(): never {
  throw storeUnavailable('the answer to an idempotency key is sealed with a secret that is not set');
}
