import { z } from 'zod';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: the registry. The rules of `conventions.ts` apply. Everything is for admins.
 */

const config = z.record(z.string(), z.unknown());

export const registryStateSchema = z
  .object({
    source: z
      .enum(['file', 'store', 'none'])
      .describe(
        '`file`: `ROUTER_CONFIG` names a file, which is the whole registry; `none`: no version has been stored, so the registry is empty.',
      ),
    readOnly: z.boolean().describe('Whether the API can only read the registry.'),
    version: z.number().describe('The number of the newest version. 0 for a file, and if there is no version.'),
    etag: z.string().describe('Changes whenever the registry changes.'),
    config: config.describe(
      'The registry as JSON. For a file, only the sections that name models and prices, because the other sections may contain secrets.',
    ),
    text: z.string().exactOptional().describe('The registry as it was written, with its comments. Absent for a file.'),
    inUse: z
      .number()
      .exactOptional()
      .describe(
        'The version that this node uses, if it does not use the newest: it has not read that version yet, or its release cannot.',
      ),
  })
  .meta({ id: 'Registry' });

/**
 * `GET /registry`: the registry of this router.
 *
 * `PUT /registry` with a RegistryChange stores a new version, which all nodes use within a second, and answers as `GET` does. 400 with the
 * field (such as `models.fast.targets.0.model`) and what is wrong with it; 409 `registry_changed` when `basedOn` is not the newest version
 * (412 for `If-Match`), and 409 `registry_read_only` when a file is the registry. `POST /registry/revert` `{ version, basedOn? }` stores
 * the text of an earlier version again, as a new version.
 */
export type RegistryState = z.output<typeof registryStateSchema>;

/** A registry either as the text of its file (YAML), or as the equivalent JSON. */
export interface RegistryInput {
  text?: string;
  config?: Record<string, unknown>;
}

export interface RegistryChange extends RegistryInput {
  /** The number of the version that was edited; 0 for none. Absent if `If-Match` names it. */
  basedOn?: number;
  note?: string;
}

export const registryProblemSchema = z
  .object({
    field: z.string().exactOptional().describe('For example `models.fast.targets.0.model`.'),
    line: z.number().exactOptional().describe('The number of the line in the text, from 1.'),
    message: z.string(),
  })
  .meta({ id: 'RegistryProblem' });

export type RegistryProblem = z.output<typeof registryProblemSchema>;

export const registryCheckSchema = z
  .object({ ok: z.boolean(), problems: z.array(registryProblemSchema).describe('At most 50.') })
  .meta({ id: 'RegistryCheck' });

/** `POST /registry/check` with a RegistryInput: whether the registry could be stored. */
export type RegistryCheck = z.output<typeof registryCheckSchema>;

export const registryVersionFactsSchema = z
  .object({
    version: z.number(),
    at: time,
    by: z.object({ id: z.string(), name: z.string() }).describe('The person who stored the version.'),
    note: z.string().exactOptional(),
    revertOf: z.number().exactOptional().describe('The earlier version whose text was stored again as this version.'),
    bytes: z.number().describe('The size of the text.'),
  })
  .meta({ id: 'RegistryVersionFacts' });

/** `GET /registry/versions`: the newest 50, newest first. */
export type RegistryVersionFacts = z.output<typeof registryVersionFactsSchema>;

export const registryVersionSchema = registryVersionFactsSchema
  .extend({ text: z.string(), config })
  .meta({ id: 'RegistryVersion' });

/** `GET /registry/versions/<number>`. */
export type RegistryVersion = z.output<typeof registryVersionSchema>;
