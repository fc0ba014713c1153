import { createHash, randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import {
  addEntryScript,
  AnswerJournal,
  JournalKind,
  type ExecutionRef,
  type JournalBounds,
  type JournalPage,
} from '#shared/store/answer-journal/answer-journal.ts';
import type { AppendOutcome, JournalEntry } from '#shared/store/answer-journal/journal-writer.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import type { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';

export const idempotentJournal = new JournalKind('idempotent', new URL('lua/answers.lua', import.meta.url));
const claimKey = idempotentJournal.createScript([new URL('lua/claim.lua', import.meta.url)]);
const renewLease = idempotentJournal.createScript([new URL('lua/renew.lua', import.meta.url)]);
const finishAnswer = idempotentJournal.createScript([addEntryScript, new URL('lua/finish.lua', import.meta.url)]);
const abandonAnswer = idempotentJournal.createScript([new URL('lua/abandon.lua', import.meta.url)]);

/** Milliseconds for which an answer is kept after its end. */
export const answerKeepMs = 600_000;

/** Milliseconds after which the keys of the executions of a dead node are free. */
const leaseMs = 6_000;

/** Milliseconds for which a follower counts as waiting for more of the answer after each of its reads. */
const followerMs = 3_500;

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

export type Claim =
  /** The caller must execute the request. `number` is the number of earlier executions with the key. */
  | { outcome: 'claimed'; execution: ExecutionRef; number: number }
  /**
   * `execution` has the key, or its answer is kept for the key. `repetitions` counts the requests with this outcome, including this
   * request.
   */
  | { outcome: 'taken'; execution: ExecutionRef; isOver: boolean; facts: RequestFacts; repetitions: number }
  | { outcome: 'unknown' };

export interface IdempotencyBounds extends JournalBounds {
  /** Maximum of keys of an owner. */
  ownerKeys: number;
}

export interface AnswerPart extends Pick<JournalPage, 'next' | 'isLost' | 'entries'> {
  /** `gone`: the node that executed the request has died. */
  state: 'running' | 'gone' | 'whole' | 'cut' | 'cancelled';
  isOver: boolean;
  /** The number of earlier executions with the key. */
  number: number;
  /** Undefined in a read after an event, because the follower has them already. */
  facts: RequestFacts | undefined;
  /** Undefined until it is known, and in a read after an event, because the follower has it already. */
  head: AnswerHead | undefined;
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
  readonly #journal: AnswerJournal;
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
    this.#journal = new AnswerJournal(redis, prefix, { kind: idempotentJournal, bounds, keys });
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
    const ownExecution = { owner, id, attempt };
    const args = { leaseMs, keepMs: answerKeepMs, isResumed, ...this.#bounds, wasAway: this.#wasRecentlyAway };
    const sealedFacts = this.#keys.storeSealer(owner).seal(JSON.stringify(facts));
    const reply = await this.#journal.run(claimKey, ownExecution, args, [sealedFacts]);
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
          facts: this.#journal.unsealField(owner, sealed) as RequestFacts,
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

  append(execution: ExecutionRef, entry: JournalEntry): Promise<AppendOutcome> {
    return this.#journal.append(execution, entry);
  }

  /**
   * Renews the lease of an execution.
   * @returns how many followers wait for the answer; -1 if the execution no longer has its key
   */
  async renew(execution: ExecutionRef): Promise<number> {
    return Number(await this.#journal.run(renewLease, execution, { leaseMs, keepMs: answerKeepMs }));
  }

  /**
   * Ends an execution.
   * @param end `cut` if the connection was closed before the end of the answer
   * @param isFree whether the next request with the key is executed; otherwise it gets this answer
   */
  async finish(execution: ExecutionRef, entry: JournalEntry, end: 'whole' | 'cut', isFree: boolean): Promise<void> {
    const { args, text } = await this.#journal.seal(execution.owner, entry);
    await this.#journal.run(finishAnswer, execution, { ...args, end, isFree, keepMs: answerKeepMs }, [text]);
  }

  /**
   * Abandons an execution whose client has disconnected, unless followers wait for its answer.
   * @returns how many followers wait
   */
  async abandon(execution: ExecutionRef): Promise<number> {
    return Number(await this.#journal.run(abandonAnswer, execution, { keepMs: answerKeepMs }));
  }

  /**
   * Reads the part of an answer after an event. Registers the follower as waiting for more.
   * @param after number of the event; -1 for the whole answer
   * @returns undefined if the answer no longer exists
   */
  async read({ owner, id, attempt }: ExecutionRef, follower: string, after: number): Promise<AnswerPart | undefined> {
    const page = await this.#journal.read(
      { owner, id },
      {
        match: { attempt },
        fields: ['state', 'kind', 'number', 'leaseUntil', ...(after < 0 ? ['facts', 'head'] : [])],
        after,
        follower: { follower, followerMs, attempt },
      },
    );
    if (!page) return undefined;
    const [state, kind, number, leaseUntil, facts, head] = page.fields;
    const isGone = Number(leaseUntil) <= page.now && !this.#wasRecentlyAway;
    return {
      state: state === 'running' ? (isGone ? 'gone' : 'running') : toAnswerEnd(kind),
      isOver: state !== 'running',
      number: Number(number),
      next: page.next,
      isLost: page.isLost,
      facts: this.#journal.unsealField(owner, facts) as RequestFacts | undefined,
      head: this.#journal.unsealField(owner, head) as AnswerHead | undefined,
      entries: page.entries,
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
}

export function createExecutionId(): string {
  return `ia_${randomUUID()}`;
}

function toAnswerEnd(kind: string | null | undefined): 'whole' | 'cut' | 'cancelled' {
  return kind === 'cut' || kind === 'cancelled' ? kind : 'whole';
}
