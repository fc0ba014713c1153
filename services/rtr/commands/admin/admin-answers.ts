import type { Limits } from '#shared/accounts/limits/limits.ts';
import type { Ceiling } from '#shared/accounts/people/ceiling.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';

/*
 * The fields of the Admin API's answers that the command line reads. The OpenAPI document of the API describes all fields. Times are
 * milliseconds since 1970.
 */

export interface Person {
  id: string;
  name: string;
  email: string;
  emailConfirmed: boolean;
  role: 'admin' | 'member';
  blocked: boolean;
  limits: Limits;
  weight: number;
  ceiling: Ceiling;
  createdAt: number;
  lastSeenAt?: number;
  /** Absent if the person has no account at an identity provider. */
  provider?: string;
}

/** Since when requests of a key or team are recorded, and who switched recording on. */
export interface RecordingState {
  of: 'key' | 'team';
  by?: string;
  since: number;
}

export interface Team {
  id: string;
  name: string;
  limits: Limits;
  weight: number;
  ceiling: Ceiling;
  recording?: RecordingState;
  createdAt: number;
  members: { id: string; name: string; email: string; role: 'owner' | 'member' }[];
}

export interface Key {
  id: string;
  kind: 'router' | 'user' | 'team';
  name: string;
  class: PriorityClass;
  /** The class that the key's requests have, if it differs from `class`. */
  classInForce?: PriorityClass;
  masked: string;
  owner?: { id: string; name: string };
  createdAt: number;
  createdBy?: string;
  issued?: { by?: string; storesAs: string };
  expiresAt?: number;
  revokedAt?: number;
  lastUsedAt?: number;
  /** Id of the key that replaces this one. */
  replacedBy?: string;
  models?: string[];
  tiers?: Tier[];
  tools?: string[];
  limits: Limits;
  weight?: number;
  recording?: RecordingState;
  /** Names of the settings that an administrator has set: names of fields, and `limits.<name>`. */
  adminSet?: string[];
}

export interface Price {
  model: string;
  source: 'shipped' | 'changed';
  asOf?: string;
  [field: string]: number | string | undefined;
}

export interface Settings {
  newMembers: { limits: Limits; ceiling: Ceiling };
  alertEmails: Readonly<Record<string, boolean | string[]>>;
  [setting: string]: unknown;
}
