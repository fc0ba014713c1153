import { z } from 'zod';
import { recordingFactsSchema } from '#shared/accounts/recordings/recording.ts';

/*
 * The contract between the console's pages and its API: recorded requests. The rules of `account.ts` apply. The person of its key, the
 * owners of its team, and administrators see a recording. For all others it does not exist. Reading a recording of somebody else, or of a
 * team, writes an entry of the audit trail.
 */

const time = z.number().describe('Milliseconds since 1970.');

/** The switch by which requests are recorded. */
export const recordingStateSchema = z
  .object({
    of: z.enum(['key', 'team']).describe('What is switched to having its requests recorded.'),
    by: z
      .string()
      .exactOptional()
      .describe('The name of whoever has switched it on. Absent: it is not known any more.'),
    since: time,
  })
  .meta({ id: 'RecordingState', description: 'That requests are recorded, who has switched that on, and since when.' });

export type RecordingState = z.output<typeof recordingStateSchema>;

export const recordingSwitchSchema = recordingStateSchema
  .extend({
    id: z.string().describe('Id of the key or the team.'),
    name: z.string(),
    traced: z.boolean().describe('Whether the messages are also sent to a collector of traces (OpenTelemetry).'),
  })
  .meta({ id: 'RecordingSwitch' });

/**
 * `GET /recording-switches`: those of the person's keys, of their teams, and of single keys of these teams, whose requests are recorded.
 */
export type RecordingSwitchAnswer = z.output<typeof recordingSwitchSchema>;

export const recordingSchema = recordingFactsSchema
  .extend({
    storedAs: z
      .string()
      .describe('The owner of what its key stores, to be named where several recordings have one id.'),
    expiresAt: time,
    recordedBy: z.string().describe('The name of the person, the team or the router key.'),
  })
  .meta({ id: 'Recording', description: 'A recorded request, without its content.' });

/** `GET /recordings?owner=&key=&session=&limit=&cursor=`: the newest first. `DELETE /recordings/<request id>?storedAs=`. */
export type Recording = z.output<typeof recordingSchema>;

export const wholeRecordingSchema = recordingSchema
  .extend({
    request: z.string().describe('The body of the request. A form is the JSON that it is read as, files in base64.'),
    answer: z.string().describe('The answer, as it was sent.'),
    answerEncoding: z.enum(['utf8', 'base64']).describe('How `answer` stands here: what is no text is in base64.'),
  })
  .meta({ id: 'WholeRecording', description: 'A recorded request with its content.' });

/** `GET /recordings/<request id>?storedAs=`; `GET /recordings/export` writes everything that a list would contain. */
export type RecordingWithContent = z.output<typeof wholeRecordingSchema>;
