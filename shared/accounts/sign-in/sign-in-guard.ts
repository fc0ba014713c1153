import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Redis } from 'ioredis';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { RedisScript } from '../redis/redis-script.ts';

const takeAttempt = new RedisScript(new URL('lua/take-sign-in-attempt.lua', import.meta.url));
const returnAttempt = new RedisScript(new URL('lua/return-sign-in-attempt.lua', import.meta.url));

const maxAttempts = 10;
const windowMs = 15 * 60_000;
const maxWaitMs = 3_600_000;

/** Refusals of one hour that get an entry in the audit trail: anybody can cause as many as they like. */
const maxNews = 10;

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
  /** A refusal began with this attempt, and is one of the first ten in an hour: it gets an entry in the audit trail. */
  isNews: boolean;
}

/**
 * Limits attempts to sign in: ten wrong ones in 15 minutes, from one network address and at one account each. Further ones are
 * refused for 15 minutes, then for 30, then for an hour. Running attempts count, so that many at once gain nothing.
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
    const keys = [...this.#subjects(attempt), this.#names.signInRefusals];
    const args = { now: Date.now(), maxAttempts, windowMs, maxWaitMs, maxNews };
    const outcome = await takeAttempt.run(this.#redis, { keys, args });
    const [waitMs = 0, isNews = 0] = outcome as number[];
    return { waitMs, isNews: isNews === 1 };
  }

  /** Returns an attempt that succeeded to its address, and forgets all attempts at the account. */
  async giveBack(attempt: Attempt): Promise<void> {
    await returnAttempt.run(this.#redis, { keys: this.#subjects(attempt), args: { succeeded: true } });
  }

  /** Returns an attempt that could not be judged. */
  async withdraw(attempt: Attempt): Promise<void> {
    await returnAttempt.run(this.#redis, { keys: this.#subjects(attempt), args: { succeeded: false } });
  }

  #subjects({ address, email }: Attempt): [string, string] {
    const account = hash('sha256', email, 'base64url');
    return [this.#names.signIns(`from:${addressGroup(address)}`), this.#names.signIns(`at:${account}`)];
  }
}

/**
 * The part of an IP address that counts as one client: all of an IPv4 address, the first 64 bits of an IPv6 address, because
 * a subscriber has at least the other 64 bits to choose from (RFC 6177).
 */
export function addressGroup(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [unscoped = ''] = address.split('%');
  if (!isIPv6(unscoped)) return address;
  const [head = '', tail = ''] = unscoped.toLowerCase().split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0');
  const groups = [...front, ...(unscoped.includes('::') ? zeros : []), ...back];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
