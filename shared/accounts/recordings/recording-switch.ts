import { z } from 'zod';

/** The switch that has the requests of a key or a team recorded: who switched it on, and when, in ms since 1970. */
export const recordingSwitchSchema = z.object({
  /** Id of the person, or of the admin token. */
  by: z.string(),
  since: z.number(),
});

export type RecordingSwitch = z.infer<typeof recordingSwitchSchema>;
