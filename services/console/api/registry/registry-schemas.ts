import { z } from 'zod';

const versionNumber = z.number().int().min(1).max(1_000_000_000);
const basedOn = z.number().int().min(0).max(1_000_000_000);
const note = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'A note has no control characters.')
  .optional();
const input = { text: z.string().optional(), config: z.record(z.string(), z.unknown()).optional() };

/** Requires a registry either as text or as JSON, and not both. */
function requireTextOrConfig({ text, config }: { text?: unknown; config?: unknown }, context: z.RefinementCtx): void {
  if ((text === undefined) === (config === undefined)) context.addIssue('Send the registry as `text` or as `config`.');
}

/** The body of `POST /registry/check`. */
export const checkSchema = z.strictObject(input).superRefine(requireTextOrConfig);

/** The body of `PUT /registry`. */
export const changeSchema = z
  .strictObject({ ...input, basedOn: basedOn.optional(), note })
  .superRefine(requireTextOrConfig);

/** The body of `POST /registry/revert`. */
export const revertSchema = z.strictObject({ version: versionNumber, basedOn: basedOn.optional() });

/** The parameters of `GET /registry/versions/<version>`. */
export const versionSchema = z.object({ version: z.coerce.number().int().min(1).max(1_000_000_000) });
