import type { JsonObject } from '#shared/core/json.ts';

/** An input to judge. Inputs of unknown types reach the upstream unchanged. */
export type ModerationsPart = JsonObject & { type: string; text?: string };

export type ModerationsRequest = JsonObject & {
  model?: string | null;
  input: string | string[] | ModerationsPart[];
};
