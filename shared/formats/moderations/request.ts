import type { JsonObject } from '#shared/core/json.ts';

/** A part of an input to judge. Unknown types pass. */
export type ModerationsPart = JsonObject & { type: string; text?: string };

/** A request to judge texts and images, checked by `parseModerationsRequest`: the fields that the router reads. */
export type ModerationsRequest = JsonObject & {
  model?: string | null;
  input: string | string[] | ModerationsPart[];
};
