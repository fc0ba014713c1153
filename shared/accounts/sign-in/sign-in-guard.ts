import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { toAddressGroup } from './address-groups.ts';

const takeAttempt = new RedisScript(new URL('lua/take-sign-in-attempt.lua', import.meta.url));
const returnAttempt = new RedisScript(new URL('lua/return-sign-in-attempt.lua', import.meta.url));

/**
 * Maximum of wrong tries in a window at one account, from one network address or from a browser that has signed in to this account before.
 */
const maxFromClient = 10;

/** Maximum of wrong tries in a window at one account, from all addresses together. */
const maxAtAccount = 50;

/**
 * Maximum of wrong tries in a window from one address, at all accounts together. This maximum is high, because an office or a carrier's
 * customers may share an address.
 */
const maxFromAddress = 100;

/** Maximum of refused invitations of boxes in a window from one network address. */
const maxBoxTriesFromAddress = 30;

const windowMs = 15 * 60_000;
const maxWaitMs = 3_600_000;

/** Maximum of refusals in an hour that get an entry in the audit trail. The number is bounded, because anybody can cause refusals. */
const maxAudited = 10;

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
  /** Whether this try began a refusal that gets an entry in the audit trail. The first ten refusals of an hour do. */
  isNews: boolean;
}

/** What a box tries. Each kind is counted on its own, so that boxes that leave do not keep others from joining. */
export type BoxTry = 'join' | 'leave';

/** What tries are counted for, by its name in Redis. */
interface Subject {
  name: string;
  maxTries: number;
}

/**
 * Limits wrong tries to sign in within 15 minutes: ten at an account from one network address, fifty at an account from all addresses, and
 * a hundred from an address at all accounts. A browser that has signed in to the account before has ten tries of its own, and other tries
 * do not count for it. Further tries are refused for 15 minutes, then for 30, then for an hour. A try counts as wrong until it has
 * succeeded, so that many tries at once bring no advantage.
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
   * Counts a try, unless it is refused.
   * @throws RouterError `store_unavailable`
   */
  async take(attempt: SignInTry): Promise<Allowance> {
    return this.#take(this.#listSubjects(attempt), this.#names.signInRefusals);
  }

  /**
   * Counts a request of a box, to join or to leave, for its network address.
   * @returns how long the address has to wait, if it has made more such requests than the maximum
   * @throws RouterError `store_unavailable`
   */
  async takeBoxTry(address: string, kind: BoxTry): Promise<Pick<Allowance, 'waitMs'>> {
    return this.#take([this.#boxSubject(address, kind)], this.#names.signIns(`${kind}:refusals`));
  }

  /** Removes a request of a box from the counts, because it was right. */
  async withdrawBoxTry(address: string, kind: BoxTry): Promise<void> {
    await returnAttempt.run(this.#redis, { keys: [this.#boxSubject(address, kind).name], args: { succeeded: false } });
  }

  #boxSubject(address: string, kind: BoxTry): Subject {
    return { name: this.#names.signIns(`${kind}:from:${toAddressGroup(address)}`), maxTries: maxBoxTriesFromAddress };
  }

  /** Removes a successful try from the counts, and all earlier tries at the account from this address or this browser. */
  async giveBack(attempt: SignInTry): Promise<void> {
    await this.#return(attempt, true);
  }

  /** Removes a try that could not be checked from the counts. */
  async withdraw(attempt: SignInTry): Promise<void> {
    await this.#return(attempt, false);
  }

  /** @param refusals name of the number of refusals that began this hour */
  async #take(subjects: readonly Subject[], refusals: string): Promise<Allowance> {
    const keys = [...subjects.map(({ name }) => name), refusals];
    const args = {
      now: Date.now(),
      maxTries: subjects.map(({ maxTries }) => maxTries),
      windowMs,
      maxWaitMs,
      maxAudited,
    };
    const outcome = await takeAttempt.run(this.#redis, { keys, args });
    const [waitMs = 0, isNews = 0] = outcome as number[];
    return { waitMs, isNews: isNews === 1 };
  }

  async #return(attempt: SignInTry, succeeded: boolean): Promise<void> {
    const keys = this.#listSubjects(attempt).map(({ name }) => name);
    await returnAttempt.run(this.#redis, { keys, args: { succeeded } });
  }

  /** Returns the subjects for which a try counts. A successful try removes all tries of the first subject. */
  #listSubjects({ address, email, device }: SignInTry): Subject[] {
    const account = hash('sha256', email, 'base64url');
    if (device !== undefined)
      return [{ name: this.#names.signIns(`by:${device}:${account}`), maxTries: maxFromClient }];
    const from = toAddressGroup(address);
    return [
      { name: this.#names.signIns(`at:${account}:from:${from}`), maxTries: maxFromClient },
      { name: this.#names.signIns(`at:${account}`), maxTries: maxAtAccount },
      { name: this.#names.signIns(`from:${from}`), maxTries: maxFromAddress },
    ];
  }
}
