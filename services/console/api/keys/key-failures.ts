import { ApiFailure, notFound } from '../api-failure.ts';

export function creationFailure(outcome: 'no owner' | 'too many'): ApiFailure {
  if (outcome === 'no owner') return notFound();
  return new ApiFailure(409, 'too_many_keys', 'There are 200 keys already. Revoke some that are no longer needed.');
}

/**
 * Returns the 403 for a setting that an administrator has set.
 * @param field the setting
 */
export function lockedFailure(field: string): ApiFailure {
  return new ApiFailure(403, 'admin_set', 'An administrator has set this. Ask one to change it.', { field });
}

export function keyChangedFailure(): ApiFailure {
  return new ApiFailure(409, 'key_changed', 'Others change this key at this moment. Reload the page.');
}

export function notUsableFailure(): ApiFailure {
  return new ApiFailure(409, 'key_not_usable', 'This key is revoked, replaced or expired.');
}
