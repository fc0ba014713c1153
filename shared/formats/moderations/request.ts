import type { JsonObject } from '#shared/core/json.ts';

/** An input to judge. Unknown types pass. */
export type ModerationsPart = JsonObject & { type: string; text?: string };

export type ModerationsRequest = JsonObject & {
  model?: string | null;
  input: string | string[] | ModerationsPart[];
};
