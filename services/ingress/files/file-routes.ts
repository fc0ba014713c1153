import type { Request, RequestHandler, Response, Router } from 'express';
import { findStoreOwner } from '#shared/accounts/keys/key-record.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { FormatFiles } from '#shared/formats/format-files.ts';
import { parseFileId } from '#shared/files/file-id.ts';
import type { Files } from '#shared/files/files.ts';
import type { IngressContext } from '../context.ts';
import { createErrorHandler, refuseMethod } from '../http/answer-error.ts';
import type { HandleKeyed } from '../idempotency/handle-idempotently.ts';
import type { AnsweringHandler } from '../idempotency/keyed-request.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { RequestParts } from '../http/request-parts.ts';
import type { AddApiRoutes } from '../routing/api-routes.ts';
import { beginUpload } from './begin-upload.ts';
import { receiveForm } from './receive-form.ts';
import { sendContent } from './send-content.ts';

/** Number of characters after which a file name is cut off. */
const maxNameLength = 255;

type FileRoutesParts = Pick<IngressContext['serving'], 'files' | 'store'> & RequestParts;

/**
 * Creates the routes of files. They serve only the files of the key's owner, and answer `not_found` for every other file.
 */
export function createFileRoutes(
  { serving: { files, store } }: IngressContext,
  requests: RequestParts,
  handleKeyed: HandleKeyed,
): AddApiRoutes {
  return (routes, _, formats) => {
    for (const format of formats) {
      if (!format.files) continue;
      addFileRoutes(routes, format.files, { ...requests, files, store }, (handler) =>
        handleKeyed(format, 'arrives', handler),
      );
      routes.use(format.files.path, createErrorHandler(format, requests));
    }
  };
}

function addFileRoutes(
  router: Router,
  format: FormatFiles,
  parts: FileRoutesParts,
  handleUpload: (handler: AnsweringHandler) => RequestHandler,
): void {
  const { path } = format;
  const { files } = parts;
  const findOwner = (response: Response): string => {
    parts.store.assertIntact();
    return findStoreOwner(getRequestContext(response).identity);
  };
  const findFile = async (request: Request, response: Response) => {
    const shown = readShownId(request);
    const id = parseFileId(shown);
    const file = id === undefined ? undefined : await files.find(findOwner(response), id);
    if (!file) throw format.notFound(shown);
    return file;
  };
  const create = handleUpload(async (request, response) => {
    response.json(format.show(await upload(request, response, findOwner(response), format, parts)));
  });
  router.post(path, create);
  router.get(path, async (request, response) => {
    response.json(await list(request, findOwner(response), format, files));
  });
  router.all(path, refuseMethod('GET', 'HEAD', 'POST'));
  router.get(`${path}/:id`, async (request, response) => {
    response.json(format.show(await findFile(request, response)));
  });
  router.delete(`${path}/:id`, async (request, response) => {
    const { id } = await findFile(request, response);
    if (!(await files.delete(findOwner(response), id))) throw format.notFound(format.shownId(id));
    response.json(format.showRemoval(format.shownId(id)));
  });
  router.all(`${path}/:id`, refuseMethod('GET', 'HEAD', 'DELETE'));
  router.get(`${path}/:id/content`, async (request, response) => {
    const file = await findFile(request, response);
    await sendContent(request, response, file, parts);
  });
  router.all(`${path}/:id/content`, refuseMethod('GET', 'HEAD'));
}

async function upload(
  request: Request,
  response: Response,
  owner: string,
  format: FormatFiles,
  parts: FileRoutesParts,
) {
  const { files, bodyTimeoutMs: timeoutMs } = parts;
  const { reservation, expectedBytes, signal } = beginUpload(request, response, parts);
  const {
    fields,
    files: [file],
  } = await receiveForm(request, {
    timeoutMs,
    reservation,
    maxFiles: 1,
    isKept: (field) => field === 'file',
    keep: (content) => files.receive(owner, content, { signal, expectedBytes }),
    discard: (received) => received.discard(),
  });
  if (!file) throw new RouterError('missing_parameter', "The form has no file in the field 'file'.", { param: 'file' });
  const { kept, mimeType } = file;
  try {
    const description = format.readUpload(fields);
    return await kept.keep({ ...description, name: cleanName(file.name), mimeType });
  } catch (error) {
    await kept.discard();
    throw error;
  }
}

async function list(request: Request, owner: string, format: FormatFiles, files: Pick<Files, 'list' | 'find'>) {
  const query = format.readList(request.query);
  const { after, before, ids } = query;
  if (ids) {
    const foundFiles = await Promise.all(ids.map(async (shown) => files.find(owner, parseFileId(shown) ?? '')));
    return format.list(
      foundFiles.filter((file) => file !== undefined),
      false,
      query,
    );
  }
  const cursor = { after: after && (parseFileId(after) ?? after), before: before && (parseFileId(before) ?? before) };
  const page = await files.list(owner, { ...query, ...cursor });
  if (!page) throw format.notFound(after ?? before ?? '', after === undefined ? 'before_id' : 'after');
  return format.list(page.files, page.hasMore, query);
}

function readShownId({ params }: Request): string {
  const { id } = params;
  return typeof id === 'string' ? id : '';
}

/** Removes control characters, which would break lines in a terminal, and cuts long names. */
function cleanName(filename: string): string {
  const name = filename.replaceAll(/\p{Cc}/gu, '').slice(0, maxNameLength);
  return name === '' ? 'unnamed' : name;
}
