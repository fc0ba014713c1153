import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { deriveKey } from '#shared/core/seal.ts';
import { createCookieAttributes, toCookieName, readCookie } from './cookies.ts';

const name = 'rtr-known';

/** Milliseconds for which a browser stays known after a sign-in. */
const knownMs = 365 * 24 * 3_600_000;

/** The maximum number of accounts to which one browser is known. */
const maxAccounts = 5;

const entryForm = /^([\w-]+)\.([\w-]{22})\.([\w-]{43})$/;

/**
 * Recognises browsers in which a person has signed in to an account before, by a cookie that is signed with the secret of the cluster. An
 * attacker who floods an account with wrong passwords does not lock its person out of these browsers. Each sign-in makes a new entry in the
 * cookie. Signing out everywhere or a new password makes all entries of the account void.
 */
export class KnownDevices {
  readonly #secrets: () => readonly Uint8Array[];

  /** @param secrets returns the secrets of the cluster, newest first; without secrets, no browser is known */
  constructor(secrets: () => readonly Uint8Array[]) {
    this.#secrets = secrets;
  }

  /** Returns the id of the browser if it is known to the account. */
  find(request: Request, user: UserRecord | undefined): string | undefined {
    for (const { userId, device, mac } of readEntries(request)) {
      // An entry is checked even if the address has no account, so that the check always takes the same time.
      const isOfAccount = user !== undefined && userId === user.id;
      const expected = this.#secrets().map((secret) => computeMac(secret, userId, device, user?.epoch ?? 0));
      const sentMac = Buffer.from(mac, 'base64url');
      if (expected.some((each) => timingSafeEqual(each, sentMac)) && isOfAccount) return device;
    }
    return undefined;
  }

  /** Sets the cookie by which this browser is known to a person's account. Does nothing while there are no secrets. */
  remember(request: Request, response: Response, { id, epoch }: UserRecord): void {
    const [secret] = this.#secrets();
    if (secret === undefined) return;
    const device = randomBytes(16).toString('base64url');
    const newEntry = `${id}.${device}.${computeMac(secret, id, device, epoch).toString('base64url')}`;
    const others = readEntries(request).filter(({ userId }) => userId !== id);
    const kept = others.slice(0, maxAccounts - 1).map(({ text }) => text);
    const options = { ...createCookieAttributes(request), maxAge: knownMs };
    response.cookie(toCookieName(request, name), [newEntry, ...kept].join('~'), options);
  }
}

function readEntries(request: Request): { text: string; userId: string; device: string; mac: string }[] {
  const value = readCookie(request, name) ?? '';
  return value
    .split('~')
    .slice(0, maxAccounts)
    .flatMap((text) => {
      const [, userId, device, mac] = entryForm.exec(text) ?? [];
      return userId && device && mac ? [{ text, userId, device, mac }] : [];
    });
}

function computeMac(secret: Uint8Array, userId: string, device: string, epoch: number): Buffer {
  return createHmac('sha256', deriveKey(secret, 'known browsers')).update(`${userId}.${device}.${epoch}`).digest();
}
