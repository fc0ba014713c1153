import type { Redis } from 'ioredis';
import { z } from 'zod';
import { callRedis } from '../redis/call-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { readStored, type ReportUnreadable } from '../redis/stored-records.ts';
import { emitScript } from '../webhooks/webhook-outbox.ts';

/**
 * The script that defines `mails.send(prefix, event, owners, source)`. It is prepended, after `emitScript`, to each script that changes a state
 * whose changes are mailed. Such a script stores the mails together with the change.
 */
export const mailsScript = new URL('lua/mails.lua', import.meta.url);

const takeDue = new RedisScript(emitScript, mailsScript, new URL('lua/take-due.lua', import.meta.url));
const beginAttempt = new RedisScript(emitScript, mailsScript, new URL('lua/begin-attempt.lua', import.meta.url));
const endAttempt = new RedisScript(emitScript, mailsScript, new URL('lua/end-attempt.lua', import.meta.url));

/**
 * Milliseconds after a process has taken a mail until the mail is due again, unless its try has begun. The mail may wait that long in the
 * process, because the process sends other mails first.
 */
const takenForMs = 300_000;

const storedNumber = z.coerce.number();

/** The stored fields of a mail whose try has begun. Times in ms since 1970. */
const runningSchema = z.object({
  id: z.string(),
  /** Id of the event. */
  event: z.string(),
  /** Type of the event. */
  type: z.string(),
  /** Data of the event, as JSON text. */
  data: z.string(),
  /** `user:<id>` or `address:<e-mail address>`. */
  to: z.string(),
  address: z.string(),
  attempts: storedNumber,
  createdAt: storedNumber,
  elapsedMs: storedNumber,
  /**
   * The end of the hour in which the recipient was sent the maximum number of mails, in all or of one source. Only the last of these mails
   * has this field. Until then, no further mails to the recipient are stored.
   */
  pausedUntil: storedNumber.optional(),
  /** The source of which no further mails are stored until `pausedUntil`; absent if none at all are stored. */
  pausedSource: z.string().optional(),
});

/** A mail whose try has begun, with its recipient's address and the milliseconds since the mail was made. */
export type RunningMail = z.output<typeof runningSchema>;

export interface DueMail {
  id: string;
  attempts: number;
}

/** Alert mails that are still to be sent, in Redis. Once sent or given up, a mail is removed. Every method throws `store_unavailable`. */
export class AlertMails {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #report: ReportUnreadable;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#report = report;
  }

  /** Takes mails that are due. No other process gets a mail for 5 minutes or, if its try begins, until the try ends or counts as lost. */
  async takeDue(atOnce: number): Promise<DueMail[]> {
    const args = { prefix: this.#prefix, atOnce, leaseMs: takenForMs };
    const reply = await takeDue.run(this.#redis, { args });
    const taken = Array.isArray(reply) ? reply.map(String) : [];
    return taken.flatMap((id, index) => (index % 2 === 0 ? [{ id, attempts: Number(taken[index + 1]) }] : []));
  }

  /**
   * Begins a try.
   * @param leaseMs milliseconds after which the try counts as lost with its process
   * @returns undefined if there is nothing to send: another process has begun the try, the mail was sent or given up, or its recipient gets
   * no alerts any more
   */
  async beginTry({ id, attempts }: DueMail, leaseMs: number): Promise<RunningMail | undefined> {
    const reply = await beginAttempt.run(this.#redis, { args: { prefix: this.#prefix, id, attempts, leaseMs } });
    const fields = Array.isArray(reply) ? reply.map(String) : [];
    if (fields.length === 0) return undefined;
    const entries = fields.flatMap((name, index) => (index % 2 === 0 ? [[name, fields[index + 1]] as const] : []));
    const read = readStored(runningSchema, Object.fromEntries(entries));
    if ('value' in read) return read.value;
    this.#report(`alert mail ${id}`, read.reason);
    return undefined;
  }

  /**
   * Ends a try. Returns false if the try had ended already.
   * @param delayMs milliseconds until the next try; undefined if the mail was sent or is given up
   * @param counts whether to count this try; false if the process returned the mail without a try
   */
  async end(
    { id, attempts }: DueMail,
    { delayMs, counts }: { delayMs?: number | undefined; counts: boolean },
  ): Promise<boolean> {
    const args = { prefix: this.#prefix, id, attempts, delayMs, counts };
    return (await endAttempt.run(this.#redis, { args })) === 1;
  }

  count(): Promise<number> {
    return callRedis(this.#redis.zcard(`${this.#prefix}alert-mails-due`));
  }
}
