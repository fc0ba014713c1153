import { z } from 'zod';

/*
 * The contract between the console's pages and its API: batches and files. The rules of `account.ts` apply.
 *
 * Their owner is written as `user:<id>`, `team:<id>` or, for a router key, `key:<id>`. A person sees their own and those of their teams. An
 * administrator sees all. Only its owner, which is a person or the owners of a team, reads the content of a file.
 *
 * Pages upload files and create batches at the API of a client format, as the signed-in person.
 */

const time = z.number().describe('Milliseconds since 1970.');

export const ownerSchema = z
  .object({ kind: z.enum(['user', 'team', 'key']), id: z.string(), name: z.string() })
  .meta({ id: 'Owner' });

export type Owner = z.output<typeof ownerSchema>;

export const batchSchema = z
  .object({
    id: z.string(),
    owner: ownerSchema,
    endpoint: z.string().describe('What its lines are sent to, as `/v1/chat/completions`.'),
    model: z.string().exactOptional().describe('The model that its first line asks for.'),
    state: z.enum(['validating', 'running', 'finishing', 'ended', 'failed']),
    createdAt: time,
    runningAt: time.exactOptional(),
    endedAt: time.exactOptional(),
    expiresAt: time.describe('What is not done by then expires.'),
    cancelledAt: time.exactOptional().describe('When it was asked to be cancelled.'),
    total: z.number().describe('Lines; 0 until they are counted.'),
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
      .describe('While its lines wait for a limit: which one, in words, and when they are tried again.'),
    outputFile: z.string().exactOptional().describe('Id of the file with its results.'),
    errorFile: z.string().exactOptional(),
    mayCancel: z.boolean(),
    mayRead: z.boolean().describe('Whether the person may read its files.'),
  })
  .meta({ id: 'Batch' });

/**
 * `GET /batches?owner=<owner>&limit=<1..500>&after=<id>`: `{ batches: Batch[], more: boolean }`, the newest first. With `after`, these are
 * the batches that follow this one. `GET /batches/open` (admins): all batches that have not ended, the next to expire first, at most 200.
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
        'What is wrong with its input: why it has failed. The message may quote the input, and is there for those who may read it.',
      ),
    firstErrors: z
      .array(z.object({ code: z.string(), line: z.number().exactOptional() }))
      .describe('The first lines that ended with an error: the code of the error table, and the number of the line.'),
  })
  .meta({ id: 'BatchDetails' });

export type BatchDetails = z.output<typeof batchDetailsSchema>;

export const ownedFileSchema = z
  .object({
    id: z.string().describe('As it is stored: APIs show it with a prefix of their own, and take it with `file-`.'),
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
      .describe('What all files of the owner take, uploads included, and may take.'),
    mayRead: z.boolean(),
    mayDelete: z.boolean(),
  })
  .meta({ id: 'FileList' });

/**
 * `GET /files?owner=<owner>&limit=<1..500>&after=<id>`: a FileList, the newest first. `GET /files/<id>/content?owner=<owner>` is the
 * content, to be saved; `DELETE /files/<id>?owner=<owner>` deletes the file.
 */
export type FileList = z.output<typeof fileListSchema>;
