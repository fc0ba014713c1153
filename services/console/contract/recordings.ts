import { z } from 'zod';
import { recordingFactsSchema } from '#shared/accounts/recordings/recording.ts';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: recorded requests. The rules of `conventions.ts` apply. The person who owns the key of a
 * request may see its recording. For a team's key, the owners of the team may see it. Administrators may see all recordings. For everybody
 * else a recording does not exist. Reading a recording of somebody else, or of a team, writes an entry into the audit trail.
 */

/** The switch by which requests are recorded. */
export const recordingStateSchema = z
  .object({
    of: z.enum(['key', 'team']).describe('Whether recording is switched on for the key or for the team.'),
    by: z
      .string()
      .exactOptional()
      .describe('The name of the person who has switched recording on. Absent: the name is no longer known.'),
    since: time,
  })
  .meta({ id: 'RecordingState', description: 'What recording is switched on for, by whom, and since when.' });

export type RecordingState = z.output<typeof recordingStateSchema>;

export const recordingSwitchSchema = recordingStateSchema
  .extend({
    id: z.string().describe('Id of the key or the team.'),
    name: z.string(),
    traced: z.boolean().describe('Whether the messages are also sent to a collector of traces (OpenTelemetry).'),
  })
  .meta({ id: 'RecordingSwitch' });

/** `GET /recording-switches`: the switches that are on for the person's keys, for their teams, and for single keys of these teams. */
export type RecordingSwitchAnswer = z.output<typeof recordingSwitchSchema>;

export const recordingSchema = recordingFactsSchema
  .extend({
    storedAs: z
      .string()
      .describe(
        'The owner that the recording is stored under. Send it to select one of several recordings with the same id.',
      ),
    expiresAt: time,
    recordedBy: z.string().describe('The name of the person, team or router key that the request came from.'),
  })
  .meta({ id: 'Recording', description: 'A recorded request, without its content.' });

/**
 * `GET /recordings?owner=&key=&session=&limit=&cursor=`: recorded requests, newest first. `DELETE /recordings/<request id>?storedAs=`
 * deletes one.
 */
export type Recording = z.output<typeof recordingSchema>;

export const wholeRecordingSchema = recordingSchema
  .extend({
    request: z.string().describe('The body of the request. A form is written as JSON, with its files in base64.'),
    answer: z.string().describe('The answer, as it was sent.'),
    answerEncoding: z
      .enum(['utf8', 'base64'])
      .describe('The encoding of `answer`: an answer that is not text is in base64.'),
  })
  .meta({ id: 'WholeRecording', description: 'A recorded request with its content.' });

/**
 * `GET /recordings/<request id>?storedAs=` answers one; `GET /recordings/export` writes all that a list with the same query would contain.
 */
export type RecordingWithContent = z.output<typeof wholeRecordingSchema>;
