import { z } from 'zod';

/** That requests are recorded: who has switched it on, and when, in ms since 1970. Kept of a key or a team. */
export const recordingSwitchSchema = z.object({
  /** Id of the person or of the admin token. */
  by: z.string(),
  since: z.number(),
});

export type RecordingSwitch = z.infer<typeof recordingSwitchSchema>;
