import { RouterError } from '#shared/core/errors.ts';
import type { FileListQuery, FormatFiles, ShownFile, UploadFields } from '../format-files.ts';
import { createFieldError, readWholeNumber } from './problem-error.ts';

/** The purpose with which uploaded files are stored, because this format has no field for it. */
const purpose = 'user_data';

const minLifetimeSeconds = 3_600;
const maxLifetimeSeconds = 7_776_000;

const defaultListLength = 20;
const maxListLength = 1_000;

const maxIds = 100;

/**
 * The files of Anthropic's API (Anthropic API reference, "Files"). Its SDKs page through lists in two ways: with `after_id` and
 * `before_id`, or with `page` and `next_page`.
 */
export const messagesFiles: FormatFiles = {
  path: '/files',
  shownId,
  readUpload,
  readList,
  show: showFile,
  list: (files, hasMore, { before }) => {
    const data = files.map(showFile);
    const idAt = (at: number): string | null => data.at(at)?.id ?? null;
    const next = hasMore && before === undefined ? idAt(-1) : null;
    return { data, has_more: hasMore, first_id: idAt(0), last_id: idAt(-1), next_page: next };
  },
  showRemoval: (id) => ({ id, type: 'file_deleted' }),
  notFound: (id, param) => new RouterError('not_found', `File not found: ${id}`, { param }),
};

function shownId(id: string): string {
  return `file_${id}`;
}

function showFile({ id, name, mimeType, bytes, createdAt, expiresAt }: ShownFile) {
  return {
    id: shownId(id),
    type: 'file',
    filename: name,
    mime_type: mimeType,
    size_bytes: bytes,
    created_at: new Date(createdAt).toISOString(),
    downloadable: true,
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  };
}

function readUpload(fields: ReadonlyMap<string, string>): UploadFields {
  const lifetime = fields.get('expires_in_seconds');
  if (lifetime === undefined) return { purpose };
  const seconds = readWholeNumber('expires_in_seconds', lifetime, minLifetimeSeconds, maxLifetimeSeconds);
  return { purpose, expiresAfterMs: seconds * 1_000 };
}

function readList(query: Readonly<Record<string, unknown>>): FileListQuery {
  const { limit, page } = query;
  const after = readId('after_id', query['after_id']) ?? readId('page', page);
  const before = readId('before_id', query['before_id']);
  if (after !== undefined && before !== undefined)
    throw createFieldError('before_id', 'cannot be used together with after_id or page');
  const maxFiles = limit === undefined ? defaultListLength : readWholeNumber('limit', limit, 1, maxListLength);
  return { newestFirst: true, after, before, limit: maxFiles, ids: readIds(query['ids[]'] ?? query['ids']) };
}

function readIds(value: unknown): string[] | undefined {
  if (value === undefined) return undefined;
  const list = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value.map(String) : undefined;
  if (!list) throw createFieldError('ids', 'Input should be a valid list');
  const ids = [...new Set(list)];
  if (ids.length > maxIds) throw createFieldError('ids', `List should have at most ${maxIds} items`);
  return ids;
}

function readId(param: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw createFieldError(param, 'Input should be a valid string');
}
