import { ApiFailure, notFound } from '../api-failure.ts';

export function notCreated(outcome: 'no owner' | 'too many'): ApiFailure {
  if (outcome === 'no owner') return notFound();
  return new ApiFailure(409, 'too_many_keys', 'There are 200 keys already. Revoke some that are no longer needed.');
}

/** @param field the setting; undefined when an administrator has changed the key at the same time */
export function lockedFailure(field?: string): ApiFailure {
  return field === undefined
    ? new ApiFailure(409, 'key_changed', 'An administrator has changed this key meanwhile. Reload the page.')
    : new ApiFailure(403, 'admin_set', 'An administrator has set this. Ask one to change it.', { field });
}

export function notUsable(): ApiFailure {
  return new ApiFailure(409, 'key_not_usable', 'This key is revoked, replaced or expired.');
}
