import type { Request, Response } from 'express';
import { z } from 'zod';
import { derive, sealerOf, type Sealer } from '#shared/core/seal.ts';
import { cookieAttributes, cookieName, cookieOf } from '../session/cookies.ts';

const name = 'rtr-sign-in';

/** Milliseconds that a person has at the provider. */
const lifeMs = 600_000;

const stateSchema = z.object({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** Path of the console to lead to afterwards. */
  to: z.string(),
  /** ms since 1970 */
  endsAt: z.number(),
});

/** What a browser keeps of a sign-in while its person is at the provider. */
export type SignInState = Omit<z.infer<typeof stateSchema>, 'endsAt'>;

/**
 * The states of sign-ins that are under way. Each is in a cookie of the browser that began it, sealed with the secret of the cluster: so the
 * router keeps nothing, any ingress can go on, and an answer of a provider is of no use to another browser.
 */
export class SignInStates {
  readonly #secrets: () => readonly Uint8Array[];

  constructor(secrets: () => readonly Uint8Array[]) {
    this.#secrets = secrets;
  }

  /** False while the secret of the cluster is not known. */
  begin(request: Request, response: Response, state: SignInState): boolean {
    const sealed = this.#sealer()?.seal(JSON.stringify({ ...state, endsAt: Date.now() + lifeMs }));
    if (sealed === undefined) return false;
    // Lax: the provider leads back here by a link.
    response.cookie(cookieName(request, name), sealed, { ...cookieAttributes(request), maxAge: lifeMs });
    return true;
  }

  /** Takes the state from the browser, once; undefined when there is none that has not ended. */
  take(request: Request, response: Response): SignInState | undefined {
    const sealed = cookieOf(request, name);
    if (sealed === undefined) return undefined;
    response.clearCookie(cookieName(request, name), cookieAttributes(request));
    const text = this.#sealer()?.unseal(sealed);
    const state = text === undefined ? undefined : stateSchema.safeParse(JSON.parse(text)).data;
    return state && Date.now() < state.endsAt ? state : undefined;
  }

  #sealer(): Sealer | undefined {
    return sealerOf(this.#secrets().map((secret) => derive(secret, 'sign-in at a provider')));
  }
}
