import type { Redis } from 'ioredis';
import type { z } from 'zod';
import type { RedisScript } from '#shared/store/redis/redis-script.ts';
import { readStored, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';

/**
 * Milliseconds after a process has taken a message until the message is due again, unless its try has begun. The message may wait that long
 * in the process, because the process sends other messages first.
 */
const takenForMs = 300_000;

/** A message that is to be tried. */
export interface DueMessage {
  id: string;
  /** Number of tries that the message has had. */
  attempts: number;
}

/** The end of a try. Alert mails store only when the next try is due. */
export interface TryEnd {
  state: 'pending' | 'delivered' | 'dead';
  /** Milliseconds until the next try; undefined unless the message is pending. */
  delayMs?: number | undefined;
  /** Whether to count this try; false if the process returned the message without a try. */
  counts: boolean;
  status?: number | undefined;
  error?: string | undefined;
  /** How many milliseconds the try took. */
  ms: number;
  /** Why the endpoint is disabled after this try; undefined if it stays enabled. */
  disables?: string | undefined;
}

export interface DueMessagesOptions<Running> {
  /** Start of all names in Redis. */
  prefix: string;
  /** The word before the id in reports of unreadable messages, such as `alert mail`. */
  kind: string;
  scripts: Readonly<Record<'takeDue' | 'beginAttempt' | 'endAttempt', RedisScript>>;
  /** Reads the fields of a message whose try has begun. */
  schema: z.ZodType<Running>;
  /** Milliseconds after the beginning of a try until it counts as lost with its process, unless it has ended. */
  tryLeaseMs: number;
  report: ReportUnreadable;
}

/** Messages in Redis that are tried until they are sent or given up. Every method throws `store_unavailable`. */
export class DueMessages<Running> {
  readonly #redis: Redis;
  readonly #options: DueMessagesOptions<Running>;

  constructor(redis: Redis, options: DueMessagesOptions<Running>) {
    this.#redis = redis;
    this.#options = options;
  }

  /** Takes due messages. No other process gets a message for 5 minutes or, if its try begins, until the try ends or counts as lost. */
  async takeDue(atOnce: number): Promise<DueMessage[]> {
    const { prefix, scripts } = this.#options;
    const args = { prefix, atOnce, leaseMs: takenForMs };
    return toPairs(await scripts.takeDue.run(this.#redis, { args })).map(([id, attempts]) => ({
      id,
      attempts: Number(attempts),
    }));
  }

  /**
   * Begins a try.
   * @returns `givenUp`, the reason, if the message was given up because its receiver must not get it; undefined if there is nothing to
   * send: another process has begun the try, or the message was sent, given up or removed
   */
  async beginTry({ id, attempts }: DueMessage): Promise<Running | { givenUp: string } | undefined> {
    const { prefix, kind, scripts, schema, tryLeaseMs: leaseMs, report } = this.#options;
    const fields = toPairs(await scripts.beginAttempt.run(this.#redis, { args: { prefix, id, attempts, leaseMs } }));
    const [first] = fields;
    if (!first) return undefined;
    if (first[0] === 'given up') return { givenUp: first[1] };
    const read = readStored(schema, Object.fromEntries(fields));
    if ('value' in read) return read.value;
    report(`${kind} ${id}`, read.reason);
    return undefined;
  }

  /** Ends a try. Returns false if the try had ended already. */
  async end({ id, attempts }: DueMessage, end: TryEnd): Promise<boolean> {
    const { prefix, scripts } = this.#options;
    return (await scripts.endAttempt.run(this.#redis, { args: { prefix, id, attempts, ...end } })) === 1;
  }
}

/** Returns the elements of a script's reply in pairs. */
function toPairs(reply: unknown): [string, string][] {
  const texts = Array.isArray(reply) ? reply.map(String) : [];
  return texts.flatMap((text, index) => (index % 2 === 0 ? [[text, texts[index + 1] ?? ''] as [string, string]] : []));
}
