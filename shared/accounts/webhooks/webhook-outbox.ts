import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import type { WebhookEvent } from './webhook-event.ts';

/**
 * The script that defines `webhooks.emit(prefix, event)`. It is prepended to each script that changes a state which webhooks report. Such a
 * script stores the event together with the change, so that no process can die in between.
 */
export const emitScript = new URL('lua/emit.lua', import.meta.url);

const emitEvent = new RedisScript(emitScript, new URL('lua/emit-event.lua', import.meta.url));
const sendTest = new RedisScript(emitScript, new URL('lua/send-test.lua', import.meta.url));

/** The type of a test event. No endpoint can select it. */
export const testEventType = 'rtr.webhook.test';

export function createEventId(): string {
  return `evt_${randomBytes(12).toString('hex')}`;
}

/** Converts an event to the form for the scripts. They put the JSON of its data into the message unchanged. */
export function toScriptEvent({ data, ...event }: WebhookEvent): object {
  return { ...event, data: JSON.stringify(data) };
}

/** Stores events that are to be sent. When a method returns, its event is in Redis. Every method throws `store_unavailable`. */
export class WebhookOutbox {
  readonly #redis: Redis;
  readonly #prefix: string;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /**
   * Sends an event to every endpoint of its owners that has selected it.
   * @returns the number of these endpoints
   */
  async emit(event: WebhookEvent): Promise<number> {
    return Number(await emitEvent.run(this.#redis, { args: { prefix: this.#prefix, event: toScriptEvent(event) } }));
  }

  /**
   * Sends a test event to one endpoint, with a single try.
   * @returns the delivery's id; undefined if there is no such endpoint
   */
  async sendTestEvent(endpoint: string): Promise<string | undefined> {
    const event = { id: createEventId(), type: testEventType, data: JSON.stringify({ endpoint }), once: true };
    const id = await sendTest.run(this.#redis, { args: { prefix: this.#prefix, endpoint, event } });
    return typeof id === 'string' ? id : undefined;
  }
}
