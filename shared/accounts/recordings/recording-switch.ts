import { z } from 'zod';

/** Present on a key or a team if its requests are recorded. States who switched that on, and when, in ms since 1970. */
export const recordingSwitchSchema = z.object({
  /** Id of the person, or of the admin token. */
  by: z.string(),
  since: z.number(),
});

export type RecordingSwitch = z.infer<typeof recordingSwitchSchema>;
