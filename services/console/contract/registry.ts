/*
 * The contract between the console's pages and its API: the registry. The rules of `account.ts` apply; all of it is for admins.
 */

/**
 * `GET /registry`: the registry of this router.
 *
 * `PUT /registry` with a RegistryChange stores a new version, which all nodes use within a second, and answers as `GET` does. 400 with the
 * field (as `models.fast.targets.0.model`) and what is wrong with it; 409 `registry_changed` when `basedOn` is not the newest version, and
 * 409 `registry_read_only` when a file rules. `POST /registry/revert` `{ version, basedOn? }` stores the text of an earlier version again, as
 * a new one.
 */
export interface RegistryState {
  /** `file`: `ROUTER_CONFIG` names a file, which is the whole registry; `none`: no version has been stored, so the registry is empty. */
  source: 'file' | 'store' | 'none';
  /** Whether it can only be read here. */
  readOnly: boolean;
  /** The number of the newest version; 0 for a file, and when there is none. */
  version: number;
  /** Differs when the registry differs. */
  etag: string;
  /** What it says. Of a file: the sections that name models and prices, as the others may contain secrets. */
  config: Record<string, unknown>;
  /** As it was written, with its comments. Absent for a file. */
  text?: string;
  /** The version that this node uses, where it is another one: the newest cannot be read by its release, or not yet. */
  inUse?: number;
}

/** A registry as the text of its file (YAML), or as the same in JSON: one of the two. */
export interface RegistryInput {
  text?: string;
  config?: Record<string, unknown>;
}

export interface RegistryChange extends RegistryInput {
  /** The number of the version that was edited; 0 for none. */
  basedOn: number;
  /** Why, for the history. */
  note?: string;
}

/** `POST /registry/check` with a RegistryInput: whether it could be stored. */
export interface RegistryCheck {
  ok: boolean;
  /** At most 50. */
  problems: RegistryProblem[];
}

/** What is wrong with a registry. */
export interface RegistryProblem {
  /** As `models.fast.targets.0.model`. */
  field?: string;
  /** Of the text, from 1. */
  line?: number;
  message: string;
}

/** `GET /registry/versions`: the newest 50, newest first. */
export interface RegistryVersionFacts {
  version: number;
  at: number;
  /** Who stored it. */
  by: { id: string; name: string };
  note?: string;
  /** The version whose text it has again. */
  revertOf?: number;
  /** Of the text. */
  bytes: number;
}

/** `GET /registry/versions/<number>`. */
export interface RegistryVersion extends RegistryVersionFacts {
  text: string;
  config: Record<string, unknown>;
}
