import type { Redis } from 'ioredis';
import { z } from 'zod';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import type { ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { DueMessages } from '../due-messages.ts';
import { emitScript } from '../webhook-outbox.ts';

/**
 * The script that defines `mails.send(prefix, event, owners, source)`. It is prepended, after `emitScript`, to each script that changes a state
 * whose changes are mailed. Such a script stores the mails together with the change.
 */
export const mailsScript = new URL('lua/mails.lua', import.meta.url);

const scripts = {
  takeDue: new RedisScript(emitScript, mailsScript, new URL('lua/take-due.lua', import.meta.url)),
  beginAttempt: new RedisScript(emitScript, mailsScript, new URL('lua/begin-attempt.lua', import.meta.url)),
  endAttempt: new RedisScript(emitScript, mailsScript, new URL('lua/end-attempt.lua', import.meta.url)),
};

/** Milliseconds after the beginning of a try until it counts as lost with its process, unless it has ended. */
const tryLeaseMs = 50_000;

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

/** Alert mails that are still to be sent, in Redis. Once sent or given up, a mail is removed. Every method throws `store_unavailable`. */
export class AlertMails extends DueMessages<RunningMail> {
  readonly #redis: Redis;
  readonly #prefix: string;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    super(redis, { prefix, kind: 'alert mail', scripts, schema: runningSchema, tryLeaseMs, report });
    this.#redis = redis;
    this.#prefix = prefix;
  }

  count(): Promise<number> {
    return callRedis(this.#redis.zcard(`${this.#prefix}alert-mails-due`));
  }
}
