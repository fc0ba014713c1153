import type { Redis } from 'ioredis';
import { generateId } from '../keys/generate-key.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { toStoredFields } from '#shared/store/redis/stored-value.ts';
import type { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { removeWebhook } from './remove-webhooks-of-owner.ts';
import { webhookEndpointSchema, type WebhookEndpoint, type WebhookSettings } from './webhook-endpoint.ts';
import type { WebhookOwner } from './webhook-event.ts';
import { generateWebhookSecret } from './webhook-signature.ts';

const common = new URL('lua/emit.lua', import.meta.url);
const createEndpoint = new RedisScript(common, new URL('lua/create-endpoint.lua', import.meta.url));
const changeEndpoint = new RedisScript(common, new URL('lua/change-endpoint.lua', import.meta.url));
const rotateSecret = new RedisScript(common, new URL('lua/rotate-secret.lua', import.meta.url));

const maxPerOwner = 20;

/** Maximum number of secrets with which one message is signed. */
const maxSecrets = 3;

export type WebhookKeys = Pick<OwnerKeys, 'webhookSealer'>;

/** An endpoint that is new or has a new secret. The secret is shown only now. */
export interface WebhookWithSecret {
  endpoint: WebhookEndpoint;
  secret: string;
}

export type WebhookChange = { [name in keyof WebhookSettings]?: WebhookSettings[name] | undefined } & {
  enabled?: boolean | undefined;
};

/**
 * The endpoints of people, teams and the router, in Redis. Secrets are sealed with a key of their owner. Every method throws
 * `store_unavailable`.
 */
export class WebhookEndpoints {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #keys: WebhookKeys;
  readonly #records: StoredRecords<WebhookEndpoint>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, { keys, report }: { keys: WebhookKeys; report: ReportUnreadable }) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#keys = keys;
    this.#records = new StoredRecords(redis, {
      kind: 'webhook',
      schema: webhookEndpointSchema,
      nameOf: (id) => `${prefix}webhook:${id}`,
      report,
    });
  }

  /**
   * Returns an endpoint; undefined if there is none with this id.
   * @throws UnreadableRecordError
   */
  find(id: string): Promise<WebhookEndpoint | undefined> {
    return this.#records.find(id);
  }

  /** Returns every endpoint that can be read, oldest first. If `owner` is defined, only endpoints of this owner are returned. */
  async list(owner?: WebhookOwner): Promise<WebhookEndpoint[]> {
    const name = owner === undefined ? 'webhooks' : `webhooks-of:${owner}`;
    return this.#records.findAll(await callRedis(this.#redis.zrange(this.#prefix + name, '0', '-1')));
  }

  /**
   * Creates an endpoint, or returns why it was not created.
   * @param createdBy id of the person; undefined for the command line
   */
  async create(
    owner: WebhookOwner,
    settings: WebhookSettings,
    createdBy: string | undefined,
  ): Promise<WebhookWithSecret | 'no owner' | 'too many'> {
    const secret = generateWebhookSecret();
    const secrets = [{ sealed: this.#keys.webhookSealer(owner).seal(secret) }];
    const endpoint = { ...settings, id: generateId(), owner, secrets, createdAt: Date.now(), createdBy };
    const { id, createdAt } = endpoint;
    const args = { prefix: this.#prefix, id, owner, createdAt, maxPerOwner, fields: toStoredFields(endpoint) };
    const outcome = await createEndpoint.run(this.#redis, { args });
    return outcome === 'created' ? { endpoint, secret } : (outcome as 'no owner' | 'too many');
  }

  /** Changes fields of an endpoint, or enables or disables it. Returns false if there is no such endpoint. */
  async change(id: string, { enabled, ...settings }: WebhookChange): Promise<boolean> {
    const disabledAt = enabled === false ? Date.now() : undefined;
    const removed = enabled === undefined ? [] : ['disabledAt', 'disabledReason'];
    const args = { prefix: this.#prefix, id, removed, fields: toStoredFields({ ...settings, disabledAt }) };
    return (await changeEndpoint.run(this.#redis, { args })) === 1;
  }

  /** Sets and returns a new secret. Earlier secrets still sign for `overlapMs` milliseconds. Returns false if there is no such endpoint. */
  async rotate({ id, owner }: WebhookEndpoint, overlapMs: number): Promise<string | false> {
    const secret = generateWebhookSecret();
    const sealed = this.#keys.webhookSealer(owner).seal(secret);
    const args = { prefix: this.#prefix, id, sealed, overlapMs, maxSecrets };
    return (await rotateSecret.run(this.#redis, { args })) === 1 && secret;
  }

  /** Removes an endpoint with all its deliveries. Returns false if there is no such endpoint. */
  delete(id: string): Promise<boolean> {
    return removeWebhook(this.#redis, this.#prefix, id);
  }

  /** Returns the secrets that sign now, newest first; undefined if the newest secret was sealed with another secret of the cluster. */
  unsealSigningSecrets({ owner, secrets }: WebhookEndpoint): readonly string[] | undefined {
    const { unseal } = this.#keys.webhookSealer(owner);
    const now = Date.now();
    const [newest, ...before] = secrets
      .filter(({ expiresAt = Infinity }) => expiresAt > now)
      .map(({ sealed }) => unseal(sealed));
    return newest === undefined ? undefined : [newest, ...before.filter((secret) => secret !== undefined)];
  }
}
