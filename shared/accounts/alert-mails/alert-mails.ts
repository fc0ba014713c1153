import type { Redis } from 'ioredis';
import { z } from 'zod';
import { askRedis } from '../redis/ask-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { readStored, type ReportUnreadable } from '../redis/stored-records.ts';
import { emitScript } from '../webhooks/webhook-outbox.ts';

/**
 * Stands behind `emitScript`, before a script that changes a state which is mailed. It defines `mails.send(prefix, event, owners)`, with
 * which that script stores the mails together with the change.
 */
export const mailsScript = new URL('lua/mails.lua', import.meta.url);

const takeDue = new RedisScript(emitScript, mailsScript, new URL('lua/take-due.lua', import.meta.url));
const beginAttempt = new RedisScript(emitScript, mailsScript, new URL('lua/begin-attempt.lua', import.meta.url));
const endAttempt = new RedisScript(emitScript, mailsScript, new URL('lua/end-attempt.lua', import.meta.url));

/** Milliseconds until a mail that was taken is due again, unless its attempt has begun: a queue may be long. */
const takenForMs = 300_000;

const number = z.coerce.number();

/** What is stored of a mail whose attempt has begun. Times in ms since 1970. */
const runningSchema = z.object({
  id: z.string(),
  /** Id, type and data (JSON) of the event. */
  event: z.string(),
  type: z.string(),
  data: z.string(),
  /** `user:<id>` or `address:<e-mail address>`. */
  to: z.string(),
  address: z.string(),
  attempts: number,
  createdAt: number,
  elapsedMs: number,
  /** Until then the recipient gets no further mails: as many as one may get in an hour were sent. */
  pausedUntil: number.optional(),
});

/** A mail whose attempt has begun, with its recipient's address, and the milliseconds since it was made. */
export type RunningMail = z.output<typeof runningSchema>;

/** A mail that can be sent now. */
export interface DueMail {
  id: string;
  /** Attempts that it has had. */
  attempts: number;
}

/** Alerts on their way to people by e-mail, in Redis. A mail that is over is removed. Every method throws `store_unavailable`. */
export class AlertMails {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #report: ReportUnreadable;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#report = report;
  }

  /** Takes mails that are due: nobody else gets them for some minutes, unless their attempt begins and is lost. */
  async takeDue(atOnce: number): Promise<DueMail[]> {
    const args = { prefix: this.#prefix, atOnce, leaseMs: takenForMs };
    const reply = await takeDue.run(this.#redis, { args });
    const taken = Array.isArray(reply) ? reply.map(String) : [];
    return taken.flatMap((id, at) => (at % 2 === 0 ? [{ id, attempts: Number(taken[at + 1]) }] : []));
  }

  /**
   * Begins an attempt.
   * @param leaseMs milliseconds after which it counts as lost with its process
   * @returns undefined where there is nothing to do: another process has begun it, it is over, or its recipient wants it no more
   */
  async begin({ id, attempts }: DueMail, leaseMs: number): Promise<RunningMail | undefined> {
    const reply = await beginAttempt.run(this.#redis, { args: { prefix: this.#prefix, id, attempts, leaseMs } });
    const fields = Array.isArray(reply) ? reply.map(String) : [];
    if (fields.length === 0) return undefined;
    const entries = fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1]] as const] : []));
    const read = readStored(runningSchema, Object.fromEntries(entries));
    if ('value' in read) return read.value;
    this.#report(`alert mail ${id}`, read.reason);
    return undefined;
  }

  /**
   * Ends an attempt. False when it was over already.
   * @param delayMs until the mail is tried again; undefined: it is over
   * @param counts whether this was an attempt: false for one that was given back
   */
  async end(
    { id, attempts }: DueMail,
    { delayMs, counts }: { delayMs?: number | undefined; counts: boolean },
  ): Promise<boolean> {
    const args = { prefix: this.#prefix, id, attempts, delayMs, counts };
    return (await endAttempt.run(this.#redis, { args })) === 1;
  }

  /** How many mails are on their way. */
  count(): Promise<number> {
    return askRedis(this.#redis.zcard(`${this.#prefix}alert-mails-due`));
  }
}
