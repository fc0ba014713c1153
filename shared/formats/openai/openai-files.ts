import { RouterError } from '#shared/core/errors.ts';
import type { FileListQuery, FormatFiles, ShownFile, UploadFields } from '../format-files.ts';
import { createFieldError, readWholeNumber } from './problem-error.ts';

/** The purposes that an upload may name (OpenAI API reference, "Upload file"). */
const purposes = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'];

const dayMs = 24 * 3_600_000;

/** Lifetime of a batch file if the upload sets none. */
const batchLifetimeMs = 30 * dayMs;

const minLifetimeSeconds = 3_600;
const maxLifetimeSeconds = 2_592_000;

const maxListLength = 10_000;

/** The files of OpenAI's API (OpenAI API reference, "Files"). */
export const openaiFiles: FormatFiles = {
  path: '/files',
  shownId,
  readUpload,
  readList,
  show: showFile,
  list: (files, hasMore) => {
    const data = files.map(showFile);
    const idAt = (at: number): string | null => data.at(at)?.id ?? null;
    return { object: 'list', data, first_id: idAt(0), last_id: idAt(-1), has_more: hasMore };
  },
  showRemoval: (id) => ({ id, object: 'file', deleted: true }),
  notFound: (id, param = 'id') => new RouterError('not_found', `No such File object: ${id}`, { param }),
};

function shownId(id: string): string {
  return `file-${id}`;
}

function showFile({ id, purpose, name, bytes, createdAt, expiresAt }: ShownFile) {
  return {
    id: shownId(id),
    object: 'file',
    bytes,
    created_at: Math.floor(createdAt / 1_000),
    expires_at: expiresAt === undefined ? null : Math.floor(expiresAt / 1_000),
    filename: name,
    purpose,
    status: 'processed',
    status_details: null,
  };
}

function readUpload(fields: ReadonlyMap<string, string>): UploadFields {
  const purpose = fields.get('purpose');
  if (purpose === undefined || purpose === '')
    throw new RouterError('missing_parameter', "Missing required parameter: 'purpose'.", { param: 'purpose' });
  if (!purposes.includes(purpose)) throw createFieldError('purpose', `must be one of ${purposes.join(', ')}`);
  const anchor = fields.get('expires_after[anchor]');
  const lifetime = fields.get('expires_after[seconds]');
  if (anchor === undefined && lifetime === undefined)
    return { purpose, expiresAfterMs: purpose === 'batch' ? batchLifetimeMs : undefined };
  if (anchor !== 'created_at') throw createFieldError('expires_after[anchor]', "must be 'created_at'");
  const seconds = readWholeNumber('expires_after[seconds]', lifetime, minLifetimeSeconds, maxLifetimeSeconds);
  return { purpose, expiresAfterMs: seconds * 1_000 };
}

function readList({ purpose, order = 'desc', after, limit }: Readonly<Record<string, unknown>>): FileListQuery {
  if (order !== 'asc' && order !== 'desc') throw createFieldError('order', "must be 'asc' or 'desc'");
  if (after !== undefined && typeof after !== 'string') throw createFieldError('after', 'must be one id');
  if (purpose !== undefined && typeof purpose !== 'string') throw createFieldError('purpose', 'must be one purpose');
  const maxFiles = limit === undefined ? maxListLength : readWholeNumber('limit', limit, 1, maxListLength);
  return { newestFirst: order === 'desc', after, purpose, limit: maxFiles };
}
