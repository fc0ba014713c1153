import { LRUCache } from 'lru-cache';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Logger } from '#shared/core/log.ts';
import type { Tier } from '#shared/core/tier.ts';
import { readHash, createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { logUnreadable, readStored, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { replaceJson } from '#shared/store/redis/stored-value.ts';
import { modelPriceSchema, storedPriceSchema, type ModelPrice, type TokenPrice } from './model-price.ts';

const shipped = new Map(
  Object.entries(
    z
      .record(z.string(), modelPriceSchema)
      .parse(JSON.parse(readFileSync(new URL('shipped-prices.json', import.meta.url), 'utf8'))),
  ),
);

/** Milliseconds between two reads of the changes. They are read regularly because the notice of a change may be lost. */
const refreshEveryMs = 30_000;

/** A price and its source. `changed`: the registry file or an administrator has set the price. */
export interface ListedPrice extends TokenPrice {
  model: string;
  source: 'shipped' | 'changed';
}

export interface PriceTableDependencies {
  redis: Redis;
  prefix: string;
  log: Logger;
  /** Returns the current prices of the registry file. */
  registeredPrices: () => Readonly<Record<string, TokenPrice>>;
  /** Makes every node read the changes again. */
  announce: () => Promise<void>;
}

/**
 * The prices of models. A change by an administrator takes precedence over the registry file, and the registry file over the shipped table.
 * The shipped table has the prices of cloud APIs, and applies only to the cloud tier. A model on the operator's hardware, or behind an
 * agent with a subscription, costs nothing until somebody sets a price for it.
 *
 * Changes are in Redis, in the hash `<prefix>prices`, one JSON object for each model. A look-up never calls Redis.
 */
export class PriceTable {
  readonly #dependencies: PriceTableDependencies;
  readonly #timer: NodeJS.Timeout;
  readonly #report: ReportUnreadable;
  #changes = new Map<string, ModelPrice>();

  constructor(dependencies: PriceTableDependencies) {
    this.#dependencies = dependencies;
    this.#report = logUnreadable(dependencies.log);
    this.#timer = setInterval(() => void this.refresh(), refreshEveryMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Returns the price of a model of a tier; undefined if none is known. The model then costs nothing. */
  priceOf(tier: Tier | undefined, model: string): TokenPrice | undefined {
    const registered = this.#dependencies.registeredPrices();
    for (const name of findPriceNames(model)) {
      const price = this.#changes.get(name) ?? (Object.hasOwn(registered, name) ? registered[name] : undefined);
      if (price) return price;
    }
    if (tier !== 'cloud') return undefined;
    for (const name of findPriceNames(model)) {
      const price = shipped.get(name);
      if (price) return price;
    }
    return undefined;
  }

  /** Returns every price, in the order of the models' names. */
  list(): ListedPrice[] {
    const prices = new Map<string, ListedPrice>();
    for (const [model, price] of shipped) prices.set(model, { model, ...price, source: 'shipped' });
    for (const [model, price] of [...Object.entries(this.#dependencies.registeredPrices()), ...this.#changes])
      prices.set(model, { model, ...price, source: 'changed' });
    return [...prices.values()].sort((a, b) => a.model.localeCompare(b.model));
  }

  /** Returns the price that an administrator has set for exactly this name; undefined if none was set. */
  findChanged(model: string): ModelPrice | undefined {
    return this.#changes.get(model);
  }

  /**
   * Sets a price on every node.
   * @throws RouterError `store_unavailable`
   */
  async change(model: string, price: ModelPrice): Promise<void> {
    await this.#store(async (redis, name) => {
      const storedPrice = await redis.hget(name, model);
      return redis.hset(name, model, replaceJson(storedPrice, price, Object.keys(modelPriceSchema.shape)));
    });
  }

  /**
   * Removes the change of a price on every node. Returns whether there was such a change.
   * @throws RouterError `store_unavailable`
   */
  async remove(model: string): Promise<boolean> {
    return (await this.#store((redis, name) => redis.hdel(name, model))) === 1;
  }

  /** Reads the changes from Redis. While Redis is unavailable, the known changes stay. */
  async refresh(): Promise<void> {
    const { redis, log } = this.#dependencies;
    try {
      const fields = (await readHash(redis, this.#name)) ?? {};
      this.#changes = new Map(Object.entries(fields).flatMap(([model, text]) => this.#read(model, text)));
    } catch (error) {
      log.debug({ err: error }, 'the prices could not be read');
    }
  }

  /** Parses one change. Returns an empty list if the change cannot be read. */
  #read(model: string, text: string): [string, ModelPrice][] {
    const read = readStored(storedPriceSchema, text);
    if ('value' in read) return [[model, read.value]];
    this.#report(`price ${model}`, read.reason);
    return [];
  }

  async #store<T>(write: (redis: Redis, name: string) => Promise<T>): Promise<T> {
    let result: T;
    try {
      result = await write(this.#dependencies.redis, this.#name);
    } catch (error) {
      throw createStoreUnavailableError(error);
    }
    await this.refresh();
    await this.#dependencies.announce();
    return result;
  }

  get #name(): string {
    return `${this.#dependencies.prefix}prices`;
  }
}

/** The results of `listPriceNames` by model. They are cached because every request needs them and there are few models. */
const namesByModel = new LRUCache<string, readonly string[]>({ max: 1_000 });

/**
 * Returns the names under which a model's price may be listed, the most exact first. They are the model's own name, the name without a date
 * or `latest`, and the name without a vendor. Aggregators and clouds put the vendor in front of the name (`anthropic/claude-sonnet-4.5`,
 * `us.anthropic.claude-opus-4-5-v1:0`).
 */
function findPriceNames(model: string): readonly string[] {
  let names = namesByModel.get(model);
  if (!names) namesByModel.set(model, (names = listPriceNames(model)));
  return names;
}

function listPriceNames(model: string): readonly string[] {
  const nameWithoutVendor = model.slice(model.lastIndexOf('/') + 1).replace(/^(?:[a-z]{2,6}\.)?anthropic\./, '');
  const names = [
    model,
    removeDate(model),
    nameWithoutVendor,
    removeDate(nameWithoutVendor),
    removeDate(nameWithoutVendor).replaceAll('.', '-'),
  ];
  return [...new Set(names)];
}

function removeDate(name: string): string {
  return name.replace(/-v\d+(?::\d+)?$/, '').replace(/[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2}|latest)$/, '');
}
