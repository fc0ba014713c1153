import { RouterError } from '#shared/core/errors.ts';
import type { KeyKind } from './key-format.ts';

export interface RefusedKey {
  readonly id: string;
  readonly kind: KeyKind;
  readonly name: string;
  /** The person of a personal key, the team of a team key. */
  readonly ownerId?: string | undefined;
}

/**
 * The refusal of a raw key. Clients receive the same error for every reason. The refusal is counted for the key with the given id, if there
 * is one: it was revoked, has expired, or has another secret.
 */
export class InvalidKeyError extends RouterError {
  override name = 'InvalidKeyError';
  /** Undefined if no key has the id. */
  readonly key: RefusedKey | undefined;

  constructor(key: RefusedKey | undefined) {
    super('invalid_api_key', 'Incorrect API key provided.');
    this.key = key && { id: key.id, kind: key.kind, name: key.name, ownerId: key.ownerId };
  }
}
