import type { Request, Response } from 'express';
import { z } from 'zod';
import { isToken, hashToken } from '#shared/accounts/people/secret-token.ts';
import { deriveKey, createMultiKeySealer, type Sealer } from '#shared/core/seal.ts';
import { createCookieAttributes, toCookieName, readCookie, listCookieNames } from '../session/cookies.ts';

/** The prefix of the names of the cookies. The rest of a cookie's name is part of the hash of its state. */
const cookiePrefix = 'rtr-sign-in-';
const nameForm = /^rtr-sign-in-[\w-]{16}$/;

/**
 * The maximum number of sign-ins that a browser may have under way. Each has a cookie of less than 1 KiB, and Node accepts 16 KiB of
 * headers. The extra cookies of concurrent requests also fit, until a later request clears the oldest.
 */
const maxSignIns = 3;

/** Milliseconds that a person may spend at the provider. */
const lifeMs = 600_000;

const stateSchema = z.object({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The path of the console that the finished sign-in redirects to. */
  to: z.string(),
  /** ms since 1970 */
  endsAt: z.number(),
});

/** The state of a sign-in that a browser keeps while its person is at the provider. */
export type SignInState = Omit<z.infer<typeof stateSchema>, 'endsAt'>;

export interface SignInStatesParts {
  /** Returns the secrets of the cluster, newest first. */
  secrets: () => readonly Uint8Array[];
  /** See `ExternalAccounts`. */
  takeState: (state: string, ms: number) => Promise<boolean>;
}

/**
 * The states of the sign-ins that are under way. Each state is in a cookie of the browser that began the sign-in, sealed with the secret of
 * the cluster. Any ingress can therefore go on with the sign-in, and an answer of a provider is of no use to another browser. The router
 * itself stores only the hash of each state that was used. No state is used twice, because a provider that receives a code twice revokes
 * everything that it gave for the code (RFC 6749, section 4.1.2).
 */
export class SignInStates {
  readonly #secrets: SignInStatesParts['secrets'];
  readonly #takeState: SignInStatesParts['takeState'];

  constructor({ secrets, takeState }: SignInStatesParts) {
    this.#secrets = secrets;
    this.#takeState = takeState;
  }

  /** Sets the cookie of a new sign-in and clears all but the newest cookies. Returns false while the secret of the cluster is missing. */
  begin(request: Request, response: Response, state: SignInState): boolean {
    const sealed = this.#sealer()?.seal(JSON.stringify({ ...state, endsAt: Date.now() + lifeMs }));
    if (sealed === undefined) return false;
    this.clearOldest(request, response, maxSignIns - 1);
    // The cookie is `Lax`, because the provider leads back here by a link.
    const attributes = { ...createCookieAttributes(request), maxAge: lifeMs };
    response.cookie(toCookieName(request, computeCookieName(state.state)), sealed, attributes);
    return true;
  }

  /**
   * Clears the cookies of all but the newest sign-ins.
   * @param kept the number of sign-ins that the browser keeps
   */
  clearOldest(request: Request, response: Response, kept = maxSignIns): void {
    // Browsers send older cookies first (RFC 6265, section 5.4).
    const names = listCookieNames(request, nameForm);
    for (const name of names.slice(0, Math.max(0, names.length - kept))) clearCookie(request, response, name);
  }

  /**
   * Returns the state that an answer of a provider names, and marks it as used in the whole cluster. Returns undefined when the browser has
   * no state with that provider, or only one that has expired or was used.
   * @throws RouterError `store_unavailable`. The browser then keeps the state and may send the same answer again. The repeated answer fails
   * only if Redis had recorded the state and its reply was late or lost.
   */
  async take(request: Request, response: Response, provider: string): Promise<SignInState | undefined> {
    const sentState = request.query['state'];
    if (typeof sentState !== 'string' || !isToken(sentState)) return undefined;
    const name = computeCookieName(sentState);
    const sealed = readCookie(request, name);
    if (sealed === undefined) return undefined;
    const text = this.#sealer()?.unseal(sealed);
    const state = text === undefined ? undefined : stateSchema.safeParse(JSON.parse(text)).data;
    const isValid = state?.state === sentState && state.provider === provider && Date.now() < state.endsAt;
    const isFirst = isValid && (await this.#takeState(sentState, lifeMs));
    clearCookie(request, response, name);
    return isFirst ? state : undefined;
  }

  #sealer(): Sealer | undefined {
    return createMultiKeySealer(this.#secrets().map((secret) => deriveKey(secret, 'sign-in at a provider')));
  }
}

function computeCookieName(state: string): string {
  return `${cookiePrefix}${hashToken(state).slice(0, 16)}`;
}

function clearCookie(request: Request, response: Response, name: string): void {
  response.clearCookie(toCookieName(request, name), createCookieAttributes(request));
}
