import { z } from 'zod';
import { ConfigError, setting } from '#shared/core/load-config.ts';

const mebibyte = 1024 * 1024;
const gibibyte = 1024 * mebibyte;

/** The settings of files. They must be the same in all components that store or read files. */
export const fileSettings = {
  FILE_MAX_BYTES: setting.integer('Most bytes of one file', 512 * mebibyte, 1_024, 64 * gibibyte),
  FILES_OWNER_BYTES: setting.integer(
    'Most bytes of the files of one person, team or key without owner; more are refused. One owner gets at most half of what the files of all others leave of fifteen sixteenths of `FILES_MAX_BYTES`',
    4 * gibibyte,
    1_024,
    1024 ** 5,
  ),
  FILES_MAX_BYTES: setting.integer(
    'Most bytes of all files; more are refused. Without `FILES_S3_BUCKET`, the size of the stream in NATS',
    8 * gibibyte,
    64 * mebibyte,
    1024 ** 5,
  ),
  FILES_KEEP_DAYS: setting.optionalInteger(
    'Days for which files are kept at most; until they are deleted or expire if unset',
    1,
    36_500,
  ),
  FILES_S3_BUCKET: setting.optionalText(
    'Bucket of a store that speaks the S3 protocol, for the content of files; in NATS if unset',
  ),
  FILES_S3_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .describe('Address of the S3 store; the address of Amazon S3 in the region if unset'),
  FILES_S3_REGION: setting.text('Region of the S3 store', 'us-east-1'),
  FILES_S3_ACCESS_KEY_ID: setting.optionalText(
    "Name of the key for the S3 store; without it, what AWS's own variables, files or the identity of the machine offer",
  ),
  FILES_S3_SECRET_ACCESS_KEY: setting.optionalText('The key itself'),
};

export type FileSettings = z.output<z.ZodObject<typeof fileSettings>>;

/**
 * Returns the credentials for the S3 store; undefined if none are set.
 * @throws ConfigError if only one of their two variables is set
 */
export function readS3Credentials({
  FILES_S3_ACCESS_KEY_ID: accessKeyId,
  FILES_S3_SECRET_ACCESS_KEY: secretAccessKey,
}: FileSettings): { accessKeyId: string; secretAccessKey: string } | undefined {
  if (accessKeyId === undefined && secretAccessKey === undefined) return undefined;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new ConfigError('FILES_S3_ACCESS_KEY_ID and FILES_S3_SECRET_ACCESS_KEY belong together: set both, or none');
  return { accessKeyId, secretAccessKey };
}
