import { z } from 'zod';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: batches and files. The rules of `conventions.ts` apply.
 *
 * The owner of a batch or file is written as `user:<id>`, `team:<id>` or, for a router key, `key:<id>`. A person sees the batches and files
 * of their own and of their teams. An administrator sees all. Only the person, or the owners of the team, may read the content of a file.
 *
 * Pages upload files and create batches at the API of a client format, as the signed-in person.
 */

export const ownerSchema = z
  .object({ kind: z.enum(['user', 'team', 'key']), id: z.string(), name: z.string() })
  .meta({ id: 'Owner' });

export type Owner = z.output<typeof ownerSchema>;

export const batchSchema = z
  .object({
    id: z.string(),
    owner: ownerSchema,
    endpoint: z.string().describe('The endpoint that serves its lines, for example `/v1/chat/completions`.'),
    model: z.string().exactOptional().describe('The model that its first line requests.'),
    state: z.enum(['validating', 'running', 'finishing', 'ended', 'failed']),
    createdAt: time,
    runningAt: time.exactOptional(),
    endedAt: time.exactOptional(),
    expiresAt: time.describe('The time at which its unfinished lines expire.'),
    cancelledAt: time.exactOptional().describe('The time at which somebody cancelled it. Running lines may end later.'),
    total: z.number().describe('The number of lines. 0 until they are counted.'),
    succeeded: z.number(),
    errored: z.number(),
    cancelled: z.number(),
    expired: z.number(),
    promptTokens: z.number(),
    cachedTokens: z.number(),
    completionTokens: z.number(),
    reasoningTokens: z.number(),
    cost: z.number().describe('US dollars so far.'),
    paused: z
      .object({ reason: z.string(), until: time })
      .exactOptional()
      .describe('Present while its lines wait for a limit: the limit, in words, and when the lines are tried again.'),
    outputFile: z.string().exactOptional().describe('Id of the file with its results.'),
    errorFile: z.string().exactOptional(),
    mayCancel: z.boolean(),
    mayRead: z.boolean().describe('Whether the person may read its files.'),
  })
  .meta({ id: 'Batch' });

/**
 * `GET /batches?owner=<owner>&limit=<1..500>&after=<id>`: `{ batches: Batch[], more: boolean }`, the newest first. With `after`, only the
 * batches that are older than that batch. `GET /batches/open` (admins): at most 200 unfinished batches, the next to expire first.
 * `GET /batches/<id>`: a BatchDetails. `POST /batches/<id>/cancel` answers the batch.
 */
export type Batch = z.output<typeof batchSchema>;

export const batchDetailsSchema = batchSchema
  .extend({
    inputFile: z.string(),
    metadata: z.record(z.string(), z.string()),
    problems: z
      .array(z.object({ code: z.string(), message: z.string().exactOptional(), line: z.number().exactOptional() }))
      .describe(
        'The errors in its input that made the batch fail. A message may quote the input, and is absent for people who may not read the input.',
      ),
    firstErrors: z
      .array(z.object({ code: z.string(), line: z.number().exactOptional() }))
      .describe('The first lines that ended with an error: the code of the error table, and the number of the line.'),
  })
  .meta({ id: 'BatchDetails' });

export type BatchDetails = z.output<typeof batchDetailsSchema>;

export const ownedFileSchema = z
  .object({
    id: z
      .string()
      .describe(
        'The id without a prefix. The APIs of client formats add their own prefix to it, and accept it with `file-`.',
      ),
    name: z.string(),
    purpose: z.string(),
    bytes: z.number(),
    lines: z.number(),
    createdAt: time,
    expiresAt: time.exactOptional().describe('Absent for a file that does not expire.'),
  })
  .meta({ id: 'File' });

export type OwnedFile = z.output<typeof ownedFileSchema>;

export const fileListSchema = z
  .object({
    files: z.array(ownedFileSchema),
    more: z.boolean(),
    use: z
      .object({ bytes: z.number(), maxBytes: z.number(), files: z.number(), maxFiles: z.number() })
      .describe('The bytes and number of all files of the owner, including uploads, and the maximum of both.'),
    mayRead: z.boolean(),
    mayDelete: z.boolean(),
  })
  .meta({ id: 'FileList' });

/**
 * `GET /files?owner=<owner>&limit=<1..500>&after=<id>`: a FileList, the newest first. `GET /files/<id>/content?owner=<owner>` downloads the
 * content; `DELETE /files/<id>?owner=<owner>` deletes the file.
 */
export type FileList = z.output<typeof fileListSchema>;
