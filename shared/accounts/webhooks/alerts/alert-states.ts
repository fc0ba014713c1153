import type { Redis } from 'ioredis';
import { findMailOwners, findMailSource } from '../alert-mails/alert-mail.ts';
import { mailsScript } from '../alert-mails/alert-mails.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import type { WebhookEvent } from '../webhook-event.ts';
import { emitScript, toScriptEvent } from '../webhook-outbox.ts';

const changeState = new RedisScript(emitScript, mailsScript, new URL('lua/change-state.lua', import.meta.url));

export interface FieldChange {
  field: string;
  /** The state that the field must have; undefined if it must have no state. */
  from?: string | undefined;
  /** The state that the field gets; undefined removes its state. */
  to?: string | undefined;
}

/** States that change together, and the event that reports the change. */
export interface StateChanges {
  /** The group of the states. All states of one kind are read at once. */
  kind: string;
  changes: readonly FieldChange[];
  /** When all states of the kind expire, in ms since 1970; undefined if this call sets no expiry. */
  expiresAt?: number | undefined;
  event?: WebhookEvent | undefined;
  /** Whether to mail the event, if events of its type are mailed; default: true. */
  isMailed?: boolean | undefined;
}

export type StateChange = Omit<StateChanges, 'changes'> & FieldChange;

/**
 * The last reported states of everything that runners check regularly, in Redis. A change is stored together with its event and its mails.
 * So it is reported once, by whichever runner detects it first. Every method throws `store_unavailable`.
 */
export class AlertStates {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #isMailed: boolean;

  /**
   * @param prefix start of all names in Redis
   * @param isMailed whether some process of the cluster sends mails
   */
  constructor(redis: Redis, prefix: string, isMailed = false) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#isMailed = isMailed;
  }

  async readAll(kind: string): Promise<Map<string, string>> {
    return new Map(Object.entries(await callRedis(this.#redis.hgetall(`${this.#prefix}alerts:${kind}`))));
  }

  /**
   * Changes a state and emits its event.
   * @returns false, with nothing changed or emitted, if the state is not `from`
   */
  change({ field, from, to, ...more }: StateChange): Promise<boolean> {
    return this.changeAll({ ...more, changes: [{ field, from, to }] });
  }

  /**
   * Changes states and emits their event.
   * @returns false, with nothing changed or emitted, if any state is not its `from`
   */
  async changeAll({ event, isMailed = true, ...change }: StateChanges): Promise<boolean> {
    const mailTo = event && isMailed && this.#isMailed ? findMailOwners(event) : undefined;
    const mailSource = event && findMailSource(event);
    const args = { prefix: this.#prefix, ...change, event: event && toScriptEvent(event), mailTo, mailSource };
    return (await changeState.run(this.#redis, { args })) === 1;
  }
}
