import type { Request, Response, Router } from 'express';
import { storeOwnerOf } from '#shared/accounts/keys/key-record.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { FormatFiles } from '#shared/formats/format-files.ts';
import { parseFileId } from '#shared/files/file-id.ts';
import type { Files } from '#shared/files/files.ts';
import { refuseMethod } from '../http/answer-error.ts';
import type { HeldBodies } from '../http/held-bodies.ts';
import type { KeyedHandler } from '../idempotency/idempotent.ts';
import { identityOf } from '../http/require-key.ts';
import { receiveForm } from './receive-form.ts';
import { sendContent } from './send-content.ts';

/** Number of bytes that are reserved in memory for an upload: two parts of an upload to S3, and the bytes between client and S3. */
const uploadBytes = 20 * 1024 * 1024;

/** Number of characters after which a file name is cut off. */
const maxNameLength = 255;

export interface FileRoutesParts {
  files: Pick<Files, 'receive' | 'find' | 'list' | 'read' | 'delete'>;
  held: HeldBodies;
  /** Whether the time to drain is over and the process is about to exit. */
  isEnding: () => boolean;
  /** Milliseconds without progress after which a client that sends or reads nothing is disconnected. */
  bodyTimeoutMs: number;
  store: {
    /** @throws RouterError `store_unavailable` while the store is known to have lost its data */
    assertIntact: () => void;
  };
}

/**
 * Adds the file routes of a format to a router. They serve the files of the key's owner only; for other files, they answer that there is no
 * such file. Mount the router behind `requireKey`.
 */
export function addFileRoutes(router: Router, shape: FormatFiles, parts: FileRoutesParts, keyed: KeyedHandler): void {
  const { path } = shape;
  const { files, bodyTimeoutMs: timeoutMs } = parts;
  const owned = (response: Response): string => {
    parts.store.assertIntact();
    return storeOwnerOf(identityOf(response));
  };
  const find = async (request: Request, response: Response) => {
    const shown = shownIdOf(request);
    const id = parseFileId(shown);
    const file = id === undefined ? undefined : await files.find(owned(response), id);
    if (!file) throw shape.notFound(shown);
    return file;
  };
  const create = keyed('arrives', async (request, response) => {
    response.json(shape.show(await upload(request, response, owned(response), shape, parts)));
  });
  router.post(path, create);
  router.get(path, async (request, response) => {
    response.json(await list(request, owned(response), shape, files));
  });
  router.all(path, refuseMethod('GET', 'HEAD', 'POST'));
  router.get(`${path}/:id`, async (request, response) => {
    response.json(shape.show(await find(request, response)));
  });
  router.delete(`${path}/:id`, async (request, response) => {
    const { id } = await find(request, response);
    if (!(await files.delete(owned(response), id))) throw shape.notFound(shape.shownId(id));
    response.json(shape.showRemoval(shape.shownId(id)));
  });
  router.all(`${path}/:id`, refuseMethod('GET', 'HEAD', 'DELETE'));
  router.get(`${path}/:id/content`, async (request, response) => {
    const file = await find(request, response);
    await sendContent(request, response, {
      file,
      read: (range, signal) => files.read(file, range, signal),
      timeoutMs,
    });
  });
  router.all(`${path}/:id/content`, refuseMethod('GET', 'HEAD'));
}

async function upload(
  request: Request,
  response: Response,
  owner: string,
  shape: FormatFiles,
  { files, held, isEnding, bodyTimeoutMs: timeoutMs }: FileRoutesParts,
) {
  if (isEnding()) throw new RouterError('shutting_down', 'The router is being restarted.', { retryAfter: 1 });
  // The client may have disconnected while its key was checked. Then nothing would release the memory that is reserved for its request.
  if (response.destroyed) throw new RouterError('invalid_request', 'The upload was cut off.');
  const statedBytes = Number(request.headers['content-length']);
  const expectedBytes = Number.isSafeInteger(statedBytes) ? statedBytes : undefined;
  const holding = held.admit(identityOf(response));
  const gone = new AbortController();
  response.on('close', () => {
    gone.abort(new RouterError('invalid_request', 'The client has disconnected.'));
    holding.release();
  });
  holding.grow(Math.min(expectedBytes ?? uploadBytes, uploadBytes));
  const {
    fields,
    files: [file],
  } = await receiveForm(request, {
    timeoutMs,
    holding,
    maxFiles: 1,
    isKept: (field) => field === 'file',
    keep: (content) => files.receive(owner, content, { signal: gone.signal, expectedBytes }),
    discard: (received) => received.discard(),
  });
  if (!file) throw new RouterError('missing_parameter', "The form has no file in the field 'file'.", { param: 'file' });
  const { kept, mimeType } = file;
  try {
    const described = shape.readUpload(fields);
    return await kept.keep({ ...described, name: nameOf(file.name), mimeType });
  } catch (error) {
    await kept.discard();
    throw error;
  }
}

async function list(request: Request, owner: string, shape: FormatFiles, files: Pick<Files, 'list' | 'find'>) {
  const query = shape.readList(request.query);
  const { after, before, ids } = query;
  if (ids) {
    const known = await Promise.all(ids.map(async (shown) => files.find(owner, parseFileId(shown) ?? '')));
    return shape.list(
      known.filter((file) => file !== undefined),
      false,
      query,
    );
  }
  const place = { after: after && (parseFileId(after) ?? after), before: before && (parseFileId(before) ?? before) };
  const page = await files.list(owner, { ...query, ...place });
  if (!page) throw shape.notFound(after ?? before ?? '', after === undefined ? 'before_id' : 'after');
  return shape.list(page.files, page.hasMore, query);
}

function shownIdOf({ params }: Request): string {
  const { id } = params;
  return typeof id === 'string' ? id : '';
}

/** Removes control characters, which would break lines in a terminal, and cuts long names. */
function nameOf(filename: string): string {
  const name = filename.replaceAll(/\p{Cc}/gu, '').slice(0, maxNameLength);
  return name === '' ? 'unnamed' : name;
}
