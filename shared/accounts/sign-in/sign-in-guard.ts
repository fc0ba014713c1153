import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountNames, type AccountNames } from '../account-names.ts';
import { askRedis } from '../redis/ask-redis.ts';
import { luaScript } from '../lua-script.ts';
import { addressGroup } from './address-group.ts';

const takeAttempt = luaScript('take-sign-in-attempt');
const returnAttempt = luaScript('return-sign-in-attempt');

const attempts = 10;
const windowMs = 15 * 60_000;
const longestMs = 3_600_000;

/** Strangers can have refusals begin as they like: more than these in an hour would push everything else out of the audit trail. */
const toldPerHour = 10;

/** Where an attempt to sign in comes from, and at which account. */
export interface Attempt {
  /** The client's IP address. */
  address: string;
  /** The account's e-mail address, whether there is such an account or not. */
  email: string;
}

/** Whether an attempt may be made. */
export interface Allowance {
  /** Milliseconds to wait; 0: now. */
  waitMs: number;
  /** A refusal began with this attempt, and is one of the first ten in an hour: worth a line in the audit trail. */
  isNews: boolean;
}

/**
 * Rations attempts to sign in: ten wrong ones in 15 minutes, from one network address and at one account each; whoever
 * goes on is refused for 15 minutes, then for 30, then for an hour. Attempts under way count, so that many at once gain nothing.
 */
export class SignInGuard {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  /** Takes an attempt from the allowances. @throws RouterError `store_unavailable` as KeyStore does */
  async take(attempt: Attempt): Promise<Allowance> {
    const names = [...this.#subjects(attempt), this.#names.signInRefusals];
    const args = [Date.now(), attempts, windowMs, longestMs, toldPerHour];
    const outcome = await askRedis(this.#redis.eval(takeAttempt, names.length, ...names, ...args));
    const [waitMs = 0, isNews = 0] = outcome as number[];
    return { waitMs, isNews: isNews === 1 };
  }

  /** The attempt was right: the address has it back, and those at the account are forgotten. */
  async giveBack(attempt: Attempt): Promise<void> {
    await askRedis(this.#redis.eval(returnAttempt, 2, ...this.#subjects(attempt), 1));
  }

  /** The attempt could not be judged: it counts for nothing. */
  async withdraw(attempt: Attempt): Promise<void> {
    await askRedis(this.#redis.eval(returnAttempt, 2, ...this.#subjects(attempt), 0));
  }

  #subjects({ address, email }: Attempt): [string, string] {
    const account = hash('sha256', email, 'base64url');
    return [this.#names.signIns(`from:${addressGroup(address)}`), this.#names.signIns(`at:${account}`)];
  }
}
