import { createHash, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { callRedis, createStoreUnavailableError } from '../redis/call-redis.ts';
import { eachAfterScript, RedisScript, scriptStart } from '../redis/redis-script.ts';
import type { OwnerKeys } from '../secrets/owner-keys.ts';
import type { IdempotencyBounds } from './idempotency-settings.ts';

const commonScripts = [scriptStart, new URL('lua/answers.lua', import.meta.url)];
const addEntry = new URL('lua/add-entry.lua', import.meta.url);
const claimKey = new RedisScript(...commonScripts, new URL('lua/claim.lua', import.meta.url));
const appendEvents = new RedisScript(...commonScripts, addEntry, new URL('lua/append.lua', import.meta.url));
const renewLease = new RedisScript(...commonScripts, new URL('lua/renew.lua', import.meta.url));
const finishAnswer = new RedisScript(...commonScripts, addEntry, new URL('lua/finish.lua', import.meta.url));
const abandonAnswer = new RedisScript(...commonScripts, new URL('lua/abandon.lua', import.meta.url));
const readAnswer = new RedisScript(...commonScripts, eachAfterScript, new URL('lua/read.lua', import.meta.url));

/** Milliseconds for which an answer is kept after its end. */
export const answerKeepMs = 600_000;

/** Milliseconds after which the keys of the executions of a dead node are free. */
const leaseMs = 6_000;

/** Milliseconds for which a follower counts as waiting for more of the answer after each of its reads. */
const followerMs = 3_500;

/** Maximum of entries in one read. */
const maxEntriesPerRead = 50;
/** Bytes after which a read ends. */
const maxBytesPerRead = 256 * 1024;

export interface RequestFacts {
  /** Method and path. */
  endpoint: string;
  /** Digest of the body; absent until all of the body has arrived. */
  digest?: string | undefined;
}

export interface AnswerHead {
  status: number;
  headers: Record<string, string>;
  requestId: string;
  /** Whether the answer is a stream of numbered events. */
  isEvents: boolean;
}

export interface ExecutionRef {
  owner: string;
  id: string;
  attempt: string;
}

export type Claim =
  /** The caller must execute the request. `number` is the number of earlier executions with the key. */
  | { outcome: 'claimed'; execution: ExecutionRef; number: number }
  /**
   * `execution` has the key, or its answer is kept for the key. `repetitions` counts the requests with this outcome, including this
   * request.
   */
  | { outcome: 'taken'; execution: ExecutionRef; isOver: boolean; facts: RequestFacts; repetitions: number }
  | { outcome: 'unknown' };

export interface AnswerEntry {
  /** Number of the first event in `bytes`. */
  from: number;
  /** Number of the last event in `bytes`. */
  last: number;
  bytes: Uint8Array | undefined;
  head: AnswerHead | undefined;
  /** Endpoint and digest of the request, if they have changed since the previous entry. */
  facts: RequestFacts | undefined;
}

/** Events that were added in one entry. */
export interface AnswerPiece {
  last: number;
  bytes: Buffer;
}

export interface AnswerPart {
  /** `gone`: the node that executed the request has died. */
  state: 'running' | 'gone' | 'whole' | 'cut' | 'cancelled';
  /** The number of earlier executions with the key. */
  number: number;
  /** Number of the event that will follow the stored ones. */
  next: number;
  /** Whether the entries of the answer are not kept, because there was no room for them. */
  isLost: boolean;
  /** Undefined in a read after an event, because the follower has them already. */
  facts: RequestFacts | undefined;
  /** Undefined until it is known, and in a read after an event, because the follower has it already. */
  head: AnswerHead | undefined;
  /** The entries that were read; more may follow. The first entry may also contain events before the requested ones. */
  entries: AnswerPiece[];
}

/**
 * The answers to requests with an idempotency key, while they are made and for ten minutes afterwards. A key belongs to its owner: the same
 * text from another owner is another key. Answers are sealed with a key of the owner. Every method throws RouterError
 * `store_unavailable` when Redis does not answer.
 */
export class IdempotentAnswers {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #bounds: IdempotencyBounds;
  readonly #keys: Pick<OwnerKeys, 'storeSealer'>;
  /** When the connection to Redis was last established, by `performance.now()`. */
  #connectedSince = Number.NEGATIVE_INFINITY;

  /** @param prefix start of all names in Redis */
  constructor(
    redis: Redis,
    prefix: string,
    { bounds, keys }: { bounds: IdempotencyBounds; keys: Pick<OwnerKeys, 'storeSealer'> },
  ) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#bounds = bounds;
    this.#keys = keys;
    redis.on('ready', () => (this.#connectedSince = performance.now()));
  }

  /** Maximum bytes of one answer, as stored in Redis. */
  get answerBytes(): number {
    return this.#bounds.answerBytes;
  }

  /**
   * Claims an idempotency key.
   * @param isResumed whether the request resumes an answer; such a request is never executed
   * @param attempt id of the execution. A claim that is repeated, because its reply was lost, passes the same id.
   * @throws RouterError `rate_limit_exceeded` if the owner has too many keys, or there is no room for another key
   */
  async claim(
    owner: string,
    key: string,
    facts: RequestFacts,
    isResumed: boolean,
    attempt = createExecutionId(),
  ): Promise<Claim> {
    const id = createHash('sha256').update(key).digest('hex');
    const { ownerKeys, ownerBytes, totalBytes } = this.#bounds;
    const ownExecution = { owner, id, attempt };
    const bounds = { ownerKeys, ownerBytes, totalBytes };
    const args = {
      ...ownExecution,
      leaseMs,
      keepMs: answerKeepMs,
      isResumed,
      ...bounds,
      wasAway: this.#wasRecentlyAway,
    };
    const texts = [this.#keys.storeSealer(owner).seal(JSON.stringify(facts))];
    const reply = await claimKey.run(this.#redis, { args: { prefix: this.#prefix, ...args }, texts });
    const [outcome, ...rest] = Array.isArray(reply) ? reply.map(String) : [];
    switch (outcome) {
      case 'claimed':
        return { outcome, execution: ownExecution, number: Number(rest[0]) };
      case 'taken': {
        const [state, otherAttempt = '', sealed = '', repetitions] = rest;
        const execution = { owner, id, attempt: otherAttempt };
        return {
          outcome,
          execution,
          isOver: state === 'over',
          facts: unsealJson(this.#keys.storeSealer(owner), sealed) as RequestFacts,
          repetitions: Number(repetitions),
        };
      }
      case 'unknown':
        return { outcome };
      default: {
        const message = 'Too many idempotency keys are in use. Each key is kept for ten minutes.';
        throw new RouterError('rate_limit_exceeded', message, { retryAfter: 10 });
      }
    }
  }

  /**
   * Adds an entry to an answer.
   * @returns `lost` if the answer is not kept, `superseded` if the execution no longer has its key
   */
  async append(execution: ExecutionRef, entry: AnswerEntry): Promise<'kept' | 'lost' | 'superseded'> {
    const outcome = await appendEvents.run(this.#redis, await this.#toScriptInput(execution, entry));
    return outcome === 1 ? 'kept' : outcome === -1 ? 'lost' : 'superseded';
  }

  /**
   * Renews the lease of an execution.
   * @returns how many followers wait for the answer; -1 if the execution no longer has its key
   */
  async renew(execution: ExecutionRef): Promise<number> {
    const args = { prefix: this.#prefix, ...execution, leaseMs, keepMs: answerKeepMs };
    return Number(await renewLease.run(this.#redis, { args }));
  }

  /**
   * Ends an execution.
   * @param end `cut` if the connection was closed before the end of the answer
   * @param isFree whether the next request with the key is executed; otherwise it gets this answer
   */
  async finish(execution: ExecutionRef, entry: AnswerEntry, end: 'whole' | 'cut', isFree: boolean): Promise<void> {
    const { args, texts } = await this.#toScriptInput(execution, entry);
    await finishAnswer.run(this.#redis, { args: { ...args, kind: end, isFree, keepMs: answerKeepMs }, texts });
  }

  /**
   * Abandons an execution whose client has disconnected, unless followers wait for its answer.
   * @returns how many followers wait
   */
  async abandon(execution: ExecutionRef): Promise<number> {
    return Number(
      await abandonAnswer.run(this.#redis, { args: { prefix: this.#prefix, ...execution, keepMs: answerKeepMs } }),
    );
  }

  /**
   * Reads the part of an answer after an event. Registers the follower as waiting for more.
   * @param after number of the event; -1 for the whole answer
   * @returns undefined if the answer no longer exists
   */
  async read(execution: ExecutionRef, follower: string, after: number): Promise<AnswerPart | undefined> {
    const bounds = { maxEntries: maxEntriesPerRead, maxBytes: maxBytesPerRead };
    const args = { ...execution, follower, followerMs, after, ...bounds, wasAway: this.#wasRecentlyAway };
    const reply = await readAnswer.run(this.#redis, { args: { prefix: this.#prefix, ...args } });
    const [state, kind, number, next, isLost, isGone, facts, head, ...rest] = Array.isArray(reply)
      ? reply.map(String)
      : [];
    if (state === undefined) return undefined;
    // The sealer is derived once for all texts, because deriving it takes as long as opening a sealed text.
    const sealer = this.#keys.storeSealer(execution.owner);
    const openJson = (sealed = ''): unknown => (sealed === '' ? undefined : unsealJson(sealer, sealed));
    return {
      state: state === 'running' ? (isGone === '1' ? 'gone' : 'running') : toAnswerEnd(kind),
      number: Number(number),
      next: Number(next),
      isLost: isLost === '1',
      facts: openJson(facts) as RequestFacts | undefined,
      head: openJson(head) as AnswerHead | undefined,
      entries: rest.flatMap((last, index) =>
        index % 2 === 0
          ? [{ last: Number(last), bytes: sealer.unsealBytes(rest[index + 1] ?? '') ?? throwUnreadable() }]
          : [],
      ),
    };
  }

  /** Ends the wait of a follower for an answer. */
  async leave({ owner, id }: ExecutionRef, follower: string): Promise<void> {
    await callRedis(this.#redis.zrem(`${this.#prefix}idempotent-followers:${owner}:${id}`, follower));
  }

  /** Whether leases may have run out because Redis was unavailable and nobody could renew them. */
  get #wasRecentlyAway(): boolean {
    return performance.now() - this.#connectedSince < leaseMs;
  }

  async #toScriptInput(execution: ExecutionRef, { from, last, bytes, head, facts }: AnswerEntry) {
    const { answerBytes, ownerBytes, totalBytes } = this.#bounds;
    const sealer = this.#keys.storeSealer(execution.owner);
    const sealJson = (value: object | undefined): string =>
      value === undefined ? '' : sealer.seal(JSON.stringify(value));
    const texts = [bytes === undefined ? '' : await sealer.sealBytes([bytes]), sealJson(head), sealJson(facts)];
    return { args: { prefix: this.#prefix, ...execution, from, last, answerBytes, ownerBytes, totalBytes }, texts };
  }
}

export function createExecutionId(): string {
  return `ia_${randomUUID()}`;
}

function toAnswerEnd(kind: string | undefined): 'whole' | 'cut' | 'cancelled' {
  return kind === 'cut' || kind === 'cancelled' ? kind : 'whole';
}

function unsealJson(sealer: Sealer, sealed: string): unknown {
  return JSON.parse(sealer.unseal(sealed) ?? throwUnreadable());
}

function throwUnreadable(): never {
  throw createStoreUnavailableError('the answer to an idempotency key is sealed with a secret that is not set');
}
