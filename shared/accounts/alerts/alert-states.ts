import type { Redis } from 'ioredis';
import { mailOwners } from '../alert-mails/alert-mail.ts';
import { mailsScript } from '../alert-mails/alert-mails.ts';
import { askRedis } from '../redis/ask-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import type { WebhookEvent } from '../webhooks/webhook-event.ts';
import { emitScript, scriptEvent } from '../webhooks/webhook-outbox.ts';

const changeState = new RedisScript(emitScript, mailsScript, new URL('lua/change-state.lua', import.meta.url));

/** A state that something has from now on. */
export interface FieldChange {
  field: string;
  /** The state that it must have; undefined for none. */
  from?: string | undefined;
  /** The state that it gets; undefined for none. */
  to?: string | undefined;
}

/** States that change together, and the event that reports it. */
export interface StateChanges {
  /** Of what is reported: all states of a kind are read at once. */
  kind: string;
  changes: readonly FieldChange[];
  /** When all states of the kind are forgotten, in ms since 1970; undefined for never. */
  expiresAt?: number | undefined;
  event?: WebhookEvent | undefined;
  /** Whether the event is mailed, where it is one that is; default: true. */
  isMailed?: boolean | undefined;
}

export type StateChange = Omit<StateChanges, 'changes'> & FieldChange;

/**
 * What was reported last of things that are looked at from time to time, in Redis. A change, its event and the mails of it are one
 * operation, so that each is reported once, however many look. Every method throws `store_unavailable`.
 */
export class AlertStates {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #isMailed: boolean;

  /**
   * @param prefix what all names in Redis begin with
   * @param isMailed whether there is somebody who sends mails
   */
  constructor(redis: Redis, prefix: string, isMailed = false) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#isMailed = isMailed;
  }

  /** All states of a kind, by field. */
  async all(kind: string): Promise<Map<string, string>> {
    return new Map(Object.entries(await askRedis(this.#redis.hgetall(`${this.#prefix}alerts:${kind}`))));
  }

  /** Changes a state, and emits its event. @returns false, and does neither, if it has another one than expected */
  change({ field, from, to, ...more }: StateChange): Promise<boolean> {
    return this.changeAll({ ...more, changes: [{ field, from, to }] });
  }

  /** Changes states, and emits the event of all. @returns false, and does neither, if one has another one than expected */
  async changeAll({ event, isMailed = true, ...change }: StateChanges): Promise<boolean> {
    const mailTo = event && isMailed && this.#isMailed ? mailOwners(event) : undefined;
    const args = { prefix: this.#prefix, ...change, event: event && scriptEvent(event), mailTo };
    return (await changeState.run(this.#redis, { args })) === 1;
  }
}
