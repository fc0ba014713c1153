import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Redis } from 'ioredis';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { RedisScript } from '../redis/redis-script.ts';

const takeAttempt = new RedisScript(new URL('lua/take-sign-in-attempt.lua', import.meta.url));
const returnAttempt = new RedisScript(new URL('lua/return-sign-in-attempt.lua', import.meta.url));

/**
 * Maximum of wrong tries in a window at one account, from one network address or from a browser that has signed in to this account before.
 */
const maxByOne = 10;

/** Maximum of wrong tries in a window at one account, from all addresses together. */
const maxAtAccount = 50;

/**
 * Maximum of wrong tries in a window from one address, at all accounts together. This maximum is high, because an office or a carrier's
 * customers may share an address.
 */
const maxFromAddress = 100;

const windowMs = 15 * 60_000;
const maxWaitMs = 3_600_000;

/** Maximum of refusals in an hour that get an entry in the audit trail, because anybody can cause any number of refusals. */
const maxNews = 10;

export interface SignInTry {
  address: string;
  /** The account's e-mail address, whether or not there is such an account. */
  email: string;
  /** Id of the browser, if it has signed in to this account before. */
  device?: string | undefined;
}

export interface Allowance {
  /** Milliseconds to wait until the try may be made; 0 if it may be made now. */
  waitMs: number;
  /** Whether a refusal began with this try, and is one of the first ten in an hour, so that it gets an entry in the audit trail. */
  isNews: boolean;
}

/**
 * Limits wrong tries to sign in within 15 minutes: ten at an account from one network address, fifty at an account from all addresses, and
 * a hundred from an address at all accounts. For a browser that has signed in to the account before, only its own tries count, of which it
 * has ten. Further tries are refused for 15 minutes, then for 30, then for an hour. Unfinished tries count, so that nobody gains anything
 * by many tries at once.
 */
export class SignInGuard {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  /**
   * Counts a try, unless it must wait.
   * @throws RouterError `store_unavailable`
   */
  async take(attempt: SignInTry): Promise<Allowance> {
    const subjects = this.#subjects(attempt);
    const keys = [...subjects.map(({ name }) => name), this.#names.signInRefusals];
    const args = { now: Date.now(), most: subjects.map(({ most }) => most), windowMs, maxWaitMs, maxNews };
    const outcome = await takeAttempt.run(this.#redis, { keys, args });
    const [waitMs = 0, isNews = 0] = outcome as number[];
    return { waitMs, isNews: isNews === 1 };
  }

  /** Uncounts a successful try, and all earlier tries at the account from this address, or from this browser. */
  async giveBack(attempt: SignInTry): Promise<void> {
    await this.#return(attempt, true);
  }

  /** Uncounts a try that could not be checked. */
  async withdraw(attempt: SignInTry): Promise<void> {
    await this.#return(attempt, false);
  }

  async #return(attempt: SignInTry, succeeded: boolean): Promise<void> {
    const keys = this.#subjects(attempt).map(({ name }) => name);
    await returnAttempt.run(this.#redis, { keys, args: { succeeded } });
  }

  /** Returns the subjects for which a try counts. After a successful try, all tries of the first subject are removed. */
  #subjects({ address, email, device }: SignInTry): { name: string; most: number }[] {
    const account = hash('sha256', email, 'base64url');
    if (device !== undefined) return [{ name: this.#names.signIns(`by:${device}:${account}`), most: maxByOne }];
    const from = addressGroup(address);
    return [
      { name: this.#names.signIns(`at:${account}:from:${from}`), most: maxByOne },
      { name: this.#names.signIns(`at:${account}`), most: maxAtAccount },
      { name: this.#names.signIns(`from:${from}`), most: maxFromAddress },
    ];
  }
}

/**
 * Returns the part of an IP address that counts as one client. That is all of an IPv4 address, and the first 64 bits of an IPv6 address,
 * because a subscriber has at least the other 64 bits to choose from (RFC 6177).
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
