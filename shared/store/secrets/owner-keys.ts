import { RouterError } from '#shared/core/errors.ts';
import { deriveKey, createMultiKeySealer, type Sealer } from '#shared/core/seal.ts';

/** The purpose of an encryption key. An owner has a separate key for each purpose. */
type Purpose = 'answers' | 'store' | 'recordings' | 'webhooks' | 'connections' | 'external account' | 'second factor';

/**
 * The encryption keys of owners. An owner is a person, a team, or an API key that belongs to nobody. The encryption keys are derived from
 * the secrets of the cluster, so nothing is stored for an owner. They reveal neither the secrets nor the keys of other owners.
 */
export class OwnerKeys {
  readonly #secrets: () => readonly Uint8Array[];

  /** @param secrets returns the secrets of the cluster, newest first; an empty list while they are not known */
  constructor(secrets: () => readonly Uint8Array[]) {
    this.#secrets = secrets;
  }

  /** Returns the keys that are sent with a grant, see `Grant.ownerKey`; undefined while no secret is known. */
  deriveGrantKeys(owner: string): string | undefined {
    const keys = this.#derive(owner, 'answers').map((key) => key.toString('base64url'));
    return keys.length === 0 ? undefined : keys.join('.');
  }

  /**
   * Returns the sealer for the stored data of an owner. Like every sealer of this class, it seals with the newest secret and opens with any
   * secret. Like every method that cannot return undefined, it throws RouterError `store_unavailable` while no secret is known.
   */
  storeSealer(owner: string): Sealer {
    return this.#requireSealer(owner, 'store');
  }

  /** Returns the sealer for the recorded requests of an owner. */
  recordingSealer(owner: string): Sealer {
    return this.#requireSealer(owner, 'recordings');
  }

  /** Returns the sealer for the secrets of an owner's webhooks. */
  webhookSealer(owner: string): Sealer {
    return this.#requireSealer(owner, 'webhooks');
  }

  /** Returns the sealer for a person's MCP account links. */
  mcpAccountLinkSealer(person: string): Sealer {
    return this.#requireSealer(person, 'connections');
  }

  /** Returns the sealer for the refresh token of a person's account at a provider; undefined while no secret is known. */
  externalAccountSealer(person: string): Sealer | undefined {
    return createMultiKeySealer(this.#derive(person, 'external account'));
  }

  /** Returns the sealer for the secret of a person's authenticator app. */
  secondFactorSealer(person: string): Sealer {
    return this.#requireSealer(person, 'second factor');
  }

  #requireSealer(owner: string, purpose: Purpose): Sealer {
    const sealer = createMultiKeySealer(this.#derive(owner, purpose));
    if (!sealer) throw createSecretUnknownError();
    return sealer;
  }

  #derive(owner: string, purpose: Purpose): Buffer[] {
    return this.#secrets().map((secret) => deriveKey(secret, `${purpose} of ${owner}`));
  }
}

export function createSecretUnknownError(): RouterError {
  const message = 'The secret of the cluster is not known yet. Please try again soon.';
  return new RouterError('store_unavailable', message, { retryAfter: 2 });
}
