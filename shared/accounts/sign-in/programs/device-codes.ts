import { randomInt } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { generateId } from '../../keys/generate-key.ts';
import { generateToken, hashToken, isToken } from '../../people/secret-token.ts';
import type { UserRecord } from '../../people/user.ts';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, readHash } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { readStored } from '#shared/store/redis/stored-records.ts';
import { toStoredFields } from '#shared/store/redis/stored-value.ts';
import { toAddressGroup, toSiteNetwork } from '../address-groups.ts';
import { acceptedMs } from './access-tokens.ts';
import { programIdleMs, maxProgramsPerUser } from './program-store.ts';

const beginDevice = new RedisScript(new URL('lua/begin-device.lua', import.meta.url));
const claimDevice = new RedisScript(new URL('lua/claim-device.lua', import.meta.url));
const decideDevice = new RedisScript(new URL('lua/decide-device.lua', import.meta.url));

/** Milliseconds for which a person can approve a sign-in after it has begun. */
export const deviceLifeMs = 600_000;

/** Minimum milliseconds between two polls of a device. Each poll that comes too early adds five seconds to the minimum. */
export const devicePollMs = 2_000;

/** Milliseconds by which a poll may come early. */
const slackMs = 500;

/** Milliseconds for which a device may repeat the claim of its program, because the answer may have been lost. */
const claimedMs = 60_000;

/** Maximum of sign-ins that wait for a person. */
const maxWaiting = 10_000;
/** Maximum of sign-ins from one network address that wait for a person. */
const maxPerAddress = 50;

/** The letters of codes: without vowels, so that no code is a word, and without letters that look alike (RFC 8628, section 6.1). */
const codeLetters = 'BCDFGHJKLMNPQRSTVWXZ';
const codeLength = 8;

/** Maximum of tries to find a code that is not in use. While 10,000 sign-ins wait, one code in two million is in use. */
const maxCodeTries = 4;

const deviceSchema = z.object({
  /** The name that the program gives itself. */
  client: z.string(),
  /** The network address from which the sign-in was begun. */
  address: z.string(),
  createdAt: z.coerce.number(),
  state: z.string(),
});

export type DeviceRequest = Pick<z.infer<typeof deviceSchema>, 'client' | 'address' | 'createdAt'>;

export interface DeviceStart {
  deviceCode: string;
  /** The code in the form that is shown to a person, such as `BCDF-GHJK`. */
  userCode: string;
}

/**
 * The state of a sign-in. `signedOut` has the ids of programs that were signed out because the person had too many. A repeated claim
 * returns the same ids.
 */
export type DeviceOutcome =
  | { state: 'pending' | 'slow down' | 'denied' | 'expired' }
  | { state: 'approved'; programId: string; userId: string; teamId: string | undefined; signedOut: string[] };

/**
 * Sign-ins of programs by device flow (RFC 8628), in Redis. A sign-in stays there until the device gets the person's decision. Device codes
 * are stored only as SHA-256, and a code leads to at most one program. Every method throws `store_unavailable` while Redis is unavailable.
 */
export class DeviceCodes {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  /**
   * Begins a sign-in.
   * @throws RouterError `rate_limit_exceeded` when too many sign-ins wait, in total, from this address or from its site
   */
  async begin({
    client,
    address,
    clientId,
  }: Pick<DeviceRequest, 'client' | 'address'> & { clientId?: string | undefined }): Promise<DeviceStart> {
    const deviceCode = generateToken();
    const deviceHash = hashToken(deviceCode);
    const now = Date.now();
    const clientHash = clientId === undefined ? undefined : hashToken(clientId);
    const [from, site] = [toAddressGroup(address), toSiteNetwork(address)];
    const signIn = {
      client,
      clientHash,
      address,
      from,
      site,
      createdAt: now,
      state: 'pending',
      intervalMs: devicePollMs,
    };
    const fields = toStoredFields(signIn);
    for (let attempt = 0; attempt < maxCodeTries; attempt++) {
      const userCode = generateUserCode();
      const keys = [
        this.#names.device(deviceHash),
        this.#names.userCode(userCode),
        this.#names.devicesWaiting,
        this.#names.devicesWaitingFrom(from),
        this.#names.devicesWaitingFrom(site),
      ];
      const args = { deviceHash, now, liveMs: deviceLifeMs, maxWaiting, maxPerAddress, fields };
      const [outcome, waitMs = 0] = (await beginDevice.run(this.#redis, { keys, args })) as [string, number?];
      if (outcome === 'begun') return { deviceCode, userCode: formatUserCode(userCode) };
      if (outcome === 'too many') throw tooManySignInsError(waitMs);
    }
    throw tooManySignInsError(0);
  }

  /**
   * Returns the waiting sign-in of a code that a person has entered, in any spelling; undefined if no sign-in waits for this code.
   */
  async find(entered: string): Promise<DeviceRequest | undefined> {
    const code = readUserCode(entered);
    const deviceHash = code && (await callRedis(this.#redis.get(this.#names.userCode(code))));
    if (!deviceHash) return undefined;
    const read = readStored(deviceSchema, await readHash(this.#redis, this.#names.device(deviceHash)));
    return 'value' in read && read.value.state === 'pending' ? read.value : undefined;
  }

  /** Approves a sign-in for a person, or for one of their teams. Returns false if the sign-in is over, or was decided before. */
  async approve(entered: string, { id, epoch }: UserRecord, teamId: string | undefined): Promise<boolean> {
    return this.#decide(entered, { state: 'approved', userId: id, epoch, teamId });
  }

  /** Denies a sign-in. Returns false if the sign-in is over, or was decided before. */
  async deny(entered: string): Promise<boolean> {
    return this.#decide(entered, { state: 'denied' });
  }

  /**
   * Returns the state of a device's sign-in. An approved sign-in becomes a program, once. A claim that is repeated within a minute returns
   * the same program, unless the program was refreshed meanwhile.
   * @param clientId the `client_id` of the program. The state is `expired` if the sign-in was begun with another `client_id`.
   */
  async claim(deviceCode: string, clientId?: string): Promise<DeviceOutcome> {
    if (!isToken(deviceCode)) return { state: 'expired' };
    const now = Date.now();
    const args = {
      clientHash: clientId === undefined ? undefined : hashToken(clientId),
      now,
      slackMs,
      claimedMs,
      programId: generateId(),
      idleMs: programIdleMs,
      revokedUntil: now + acceptedMs,
      maxPerUser: maxProgramsPerUser,
      userPrefix: this.#names.user(''),
      membersOfPrefix: this.#names.membersOf(''),
      programPrefix: this.#names.program(''),
      programsOfPrefix: this.#names.programsOf(''),
    };
    const keys = [this.#names.device(hashToken(deviceCode)), this.#names.revokedPrograms];
    const outcome = (await claimDevice.run(this.#redis, { keys, args })) as string[];
    const [state, programId = '', userId = '', teamId = '', ...signedOut] = outcome;
    if (state !== 'approved') return { state: state as 'pending' | 'slow down' | 'denied' | 'expired' };
    return { state, programId, userId, teamId: teamId === '' ? undefined : teamId, signedOut };
  }

  async #decide(entered: string, decision: object): Promise<boolean> {
    const code = readUserCode(entered);
    if (code === undefined) return false;
    const { userCode, devicesWaiting, device, devicesWaitingFrom } = this.#names;
    const fields = toStoredFields(decision);
    const args = { fields, devicePrefix: device(''), waitingFromPrefix: devicesWaitingFrom('') };
    return (await decideDevice.run(this.#redis, { keys: [userCode(code), devicesWaiting], args })) === 1;
  }
}

/** @param waitMs milliseconds until a waiting sign-in expires */
function tooManySignInsError(waitMs: number): RouterError {
  const retryAfter = Math.max(1, Math.ceil(waitMs / 1_000));
  const [amount, unit] = retryAfter > 60 ? [Math.ceil(retryAfter / 60), 'minute'] : [retryAfter, 'second'];
  const message = `Too many programs are signing in. Try again in ${amount} ${unit}${amount === 1 ? '' : 's'}.`;
  return new RouterError('rate_limit_exceeded', message, { retryAfter });
}

function generateUserCode(): string {
  return Array.from({ length: codeLength }, () => codeLetters.charAt(randomInt(codeLetters.length))).join('');
}

function formatUserCode(code: string): string {
  return `${code.slice(0, codeLength / 2)}-${code.slice(codeLength / 2)}`;
}

/** Returns whether a text can be a code that a program shows. Dashes, spaces and case do not matter. */
export function isUserCode(entered: string): boolean {
  return readUserCode(entered) !== undefined;
}

/** Returns a code in capitals, without dashes and spaces. Returns undefined for a text that cannot be a code. */
function readUserCode(entered: string): string | undefined {
  const code = entered.toUpperCase().replaceAll(/[\s-]/g, '');
  return new RegExp(`^[${codeLetters}]{${codeLength}}$`).test(code) ? code : undefined;
}
