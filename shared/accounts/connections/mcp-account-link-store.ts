import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { generateToken, hashToken } from '../people/secret-token.ts';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { readStored, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import type { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';

const keepLink = new RedisScript(new URL('lua/keep-connection.lua', import.meta.url));
const endRefresh = new RedisScript(new URL('lua/end-refresh.lua', import.meta.url));

/** Milliseconds for which a try to connect is stored. The person must sign in at the server within this time. */
const connectMs = 600_000;

/** Maximum of tries to connect that a person may begin in `connectMs`. */
const maxAttempts = 20;

/** Milliseconds after which the lock of a refresh expires. No refresh takes that long while Redis answers. */
export const refreshMs = 60_000;

const storedLinkSchema = createStoredSchema(
  z.object({
    /** A random text that changes with each write. */
    version: z.string(),
    /** URL of the server at the time when the person connected. */
    url: z.string(),
    /** The secrets for the server, sealed. Absent if the link has ended and the person must connect again. */
    sealed: z.string().optional(),
    connectedAt: z.number(),
    /** When the access token was issued. */
    refreshedAt: z.number(),
    /** When the access token expires, if the server states it. */
    expiresAt: z.number().optional(),
    canRefresh: z.boolean(),
  }),
);

/** A person's MCP account link, as stored. Times in ms since 1970. */
export type StoredMcpAccountLink = z.output<typeof storedLinkSchema>;

/** An MCP account link to store. The `secrets` are sealed; the other fields are stored in the clear. */
export type NewMcpAccountLink = Omit<StoredMcpAccountLink, 'version' | 'sealed'> & { secrets: object | undefined };

export type McpAccountLinkKeys = Pick<OwnerKeys, 'mcpAccountLinkSealer'>;

/**
 * The MCP account links of people, and the pending tries to connect, in Redis. Secrets are sealed with a key of the person, together with
 * their purpose, so that no secret can be used in place of another. Every method throws `store_unavailable` while Redis is unavailable.
 */
export class McpAccountLinkStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #keys: McpAccountLinkKeys;
  readonly #report: ReportUnreadable;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, { keys, report }: { keys: McpAccountLinkKeys; report: ReportUnreadable }) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
    this.#keys = keys;
    this.#report = report;
  }

  /** Returns the readable MCP account links of a person, by server. */
  async list(person: string): Promise<Map<string, StoredMcpAccountLink>> {
    const fields = await callRedis(this.#redis.hgetall(this.#names.connectionsOf(person)));
    return new Map(
      Object.entries(fields).flatMap(([server, text]) => {
        const link = this.#read(person, server, text);
        return link ? [[server, link]] : [];
      }),
    );
  }

  async find(person: string, server: string): Promise<StoredMcpAccountLink | undefined> {
    const text = await callRedis(this.#redis.hget(this.#names.connectionsOf(person), server));
    return text === null ? undefined : this.#read(person, server, text);
  }

  /** Stores an MCP account link. Returns false for a person who is blocked or deleted. */
  async keep(person: string, server: string, link: NewMcpAccountLink): Promise<boolean> {
    const keys = [this.#names.user(person), this.#names.connectionsOf(person)];
    const texts = [this.#toText(person, server, link)];
    return (await keepLink.run(this.#redis, { keys, args: { server }, texts })) === 1;
  }

  /** Removes an MCP account link. Returns false if there is no such link. */
  async remove(person: string, server: string): Promise<boolean> {
    return (await callRedis(this.#redis.hdel(this.#names.connectionsOf(person), server))) === 1;
  }

  /**
   * Returns the secrets of an MCP account link. Returns undefined if the link has ended, or if its secrets were sealed with a secret that
   * the cluster no longer has.
   */
  openSecrets(person: string, server: string, { sealed }: StoredMcpAccountLink): unknown {
    return sealed === undefined ? undefined : this.#unseal(person, `connection to ${server}`, sealed);
  }

  /**
   * Acquires the lock for refreshing a link, which the whole cluster shares.
   * @returns the holder for `endRefresh`; undefined while another process has the lock
   */
  async beginRefresh(person: string, server: string): Promise<string | undefined> {
    const holder = randomUUID();
    const name = this.#names.connectionRefresh(person, server);
    return (await callRedis(this.#redis.set(name, holder, 'PX', refreshMs, 'NX'))) === 'OK' ? holder : undefined;
  }

  /**
   * Ends a refresh and releases its lock.
   * @param replacement the old link and the new link; undefined if the link stays as it is. The new link is not stored if the old link was
   * replaced or removed meanwhile.
   */
  async endRefresh(
    person: string,
    server: string,
    holder: string,
    replacement?: { oldLink: StoredMcpAccountLink; newLink: NewMcpAccountLink },
  ): Promise<void> {
    const keys = [this.#names.connectionsOf(person), this.#names.connectionRefresh(person, server)];
    const args = { server, holder, version: replacement?.oldLink.version };
    const texts = replacement && [this.#toText(person, server, replacement.newLink)];
    await endRefresh.run(this.#redis, { keys, args, ...(texts && { texts }) });
  }

  /**
   * Stores a try to connect for ten minutes.
   * @param makeSecrets returns what to seal and store for a `state`
   * @returns the `state` of the try; undefined for a person with too many tries
   */
  async beginConnect(person: string, makeSecrets: (state: string) => Promise<object>): Promise<string | undefined> {
    const countName = this.#names.connectionAttempts(person);
    const [, attempts] = await callRedisAll(
      this.#redis.multi().set(countName, '0', 'PX', connectMs, 'NX').incr(countName),
    );
    if (Number(attempts) > maxAttempts) return undefined;
    const state = generateToken();
    const sealed = this.#seal(person, 'attempt', await makeSecrets(state));
    await callRedis(this.#redis.set(this.#names.connectionAttempt(hashToken(state)), sealed, 'PX', connectMs));
    return state;
  }

  /** Removes the try with this `state`, and returns its secrets; undefined if the try is over or belongs to another person. */
  async takeConnect(person: string, state: string): Promise<unknown> {
    const sealed = await callRedis(this.#redis.getdel(this.#names.connectionAttempt(hashToken(state))));
    return sealed === null ? undefined : this.#unseal(person, 'attempt', sealed);
  }

  #read(person: string, server: string, text: string): StoredMcpAccountLink | undefined {
    const read = readStored(storedLinkSchema, text);
    if ('value' in read) return read.value;
    this.#report(`connection ${person} ${server}`, read.reason);
    return undefined;
  }

  #toText(person: string, server: string, { secrets, ...link }: NewMcpAccountLink): string {
    const sealed = secrets && this.#seal(person, `connection to ${server}`, secrets);
    return JSON.stringify({ ...link, version: randomUUID(), sealed });
  }

  #seal(person: string, purpose: string, secrets: object): string {
    return this.#keys.mcpAccountLinkSealer(person).seal(JSON.stringify({ what: purpose, secrets }));
  }

  #unseal(person: string, purpose: string, sealed: string): unknown {
    const text = this.#keys.mcpAccountLinkSealer(person).unseal(sealed);
    const opened = text === undefined ? undefined : (JSON.parse(text) as { what: string; secrets: unknown });
    return opened?.what === purpose ? opened.secrets : undefined;
  }
}
