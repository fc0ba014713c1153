import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RedisScript } from '../redis/redis-script.ts';
import type { WebhookEvent } from './webhook-event.ts';

/**
 * Stands before a script that changes a state which webhooks report. It defines `webhooks.emit(prefix, event)`, with which that script
 * stores the event together with the change: no process can die in between.
 */
export const emitScript = new URL('lua/emit.lua', import.meta.url);

const emitEvent = new RedisScript(emitScript, new URL('lua/emit-event.lua', import.meta.url));
const sendTest = new RedisScript(emitScript, new URL('lua/send-test.lua', import.meta.url));

/** The type of an event by which an endpoint is tried. Nobody selects it. */
export const testEventType = 'rtr.webhook.test';

/** The id of a new event. */
export function mintEventId(): string {
  return `evt_${randomBytes(12).toString('hex')}`;
}

/** An event as the scripts take it: its data are put into the message as they are. */
export function scriptEvent({ data, ...event }: WebhookEvent): object {
  return { ...event, data: JSON.stringify(data) };
}

/** Where events go that are to be sent. They are in Redis when a method returns. Every method throws `store_unavailable`. */
export class WebhookOutbox {
  readonly #redis: Redis;
  readonly #prefix: string;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /** Sends an event to every endpoint of its owners that has selected it. @returns to how many */
  async emit(event: WebhookEvent): Promise<number> {
    return Number(await emitEvent.run(this.#redis, { args: { prefix: this.#prefix, event: scriptEvent(event) } }));
  }

  /** Sends a test event to one endpoint, with one attempt. @returns the delivery's id; undefined where there is no such endpoint */
  async test(endpoint: string): Promise<string | undefined> {
    const event = { id: mintEventId(), type: testEventType, data: JSON.stringify({ endpoint }), once: true };
    const id = await sendTest.run(this.#redis, { args: { prefix: this.#prefix, endpoint, event } });
    return typeof id === 'string' ? id : undefined;
  }
}
