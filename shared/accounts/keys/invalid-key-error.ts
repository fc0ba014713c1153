import { RouterError } from '#shared/core/errors.ts';
import type { KeyKind } from './key-format.ts';

export interface RefusedKey {
  readonly id: string;
  readonly kind: KeyKind;
  readonly name: string;
  /** Id of the person of a personal key, or of the team of a team key. */
  readonly ownerId?: string | undefined;
}

/**
 * The refusal of a raw key. Clients receive the same error for every reason. The refusal is counted for the key with the id in the raw key,
 * if there is such a key.
 */
export class InvalidKeyError extends RouterError {
  override name = 'InvalidKeyError';
  /** The key with the id in the raw key; undefined if there is none. */
  readonly key: RefusedKey | undefined;

  constructor(key: RefusedKey | undefined) {
    super('invalid_api_key', 'Incorrect API key provided.');
    this.key = key && { id: key.id, kind: key.kind, name: key.name, ownerId: key.ownerId };
  }
}
