import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountNames, type AccountNames } from '../account-names.ts';
import { askRedis } from '../ask-redis.ts';
import { luaScript } from '../lua-script.ts';
import { addressGroup } from './address-group.ts';

const takeAttempt = luaScript('take-sign-in-attempt');
const returnAttempt = luaScript('return-sign-in-attempt');

const attempts = 10;
const windowMs = 15 * 60_000;
const longestMs = 3_600_000;

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
  /** This attempt was the one at which a refusal began. */
  begins: boolean;
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
    const args = [Date.now(), attempts, windowMs, longestMs];
    const outcome = await askRedis(this.#redis.eval(takeAttempt, 2, ...this.#subjects(attempt), ...args));
    const [waitMs = 0, begins = 0] = outcome as number[];
    return { waitMs, begins: begins === 1 };
  }

  /** The attempt was right: the address has it back, and those at the account are forgotten. */
  async giveBack(attempt: Attempt): Promise<void> {
    await askRedis(this.#redis.eval(returnAttempt, 2, ...this.#subjects(attempt)));
  }

  #subjects({ address, email }: Attempt): [string, string] {
    const account = hash('sha256', email, 'base64url');
    return [this.#names.signIns(`from:${addressGroup(address)}`), this.#names.signIns(`at:${account}`)];
  }
}
