import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import type { FileRecord } from '#shared/accounts/files/file-records.ts';
import type { Files } from '#shared/files/files.ts';
import type { FileList, OwnedFile } from '../../contract/batches.ts';
import { mayDo, requireAccess, type Action } from '../access.ts';
import { notFound } from '../api-failure.ts';
import { record, type ApiParts } from '../api-parts.ts';
import { asOwner, ownerSchema, partyOf } from '../batches/owners.ts';
import { parse } from '../parse.ts';
import { signedInOf } from '../session/signed-in.ts';

const fileId = z.string().regex(/^\w{1,80}$/, 'This is not the id of a file.');
const listQuery = z.object({
  owner: ownerSchema,
  limit: z.coerce.number().int().min(1).max(500).default(50),
  after: fileId.optional(),
});
const ownerQuery = z.object({ owner: ownerSchema });

export interface FileRoutesParts extends Pick<ApiParts, 'accounts' | 'log'> {
  files: Pick<Files, 'list' | 'find' | 'use' | 'remove'>;
  /** Sends the content of a file, or the range that the request asks for. */
  sendFile: (request: Request, response: Response, file: FileRecord) => Promise<void>;
}

/** The routes of `contract/batches.ts` about files, for signed-in people. */
export function fileRoutes(parts: FileRoutesParts): Router {
  const { files, sendFile } = parts;
  const routes = Router();
  routes.get('/files', async (request, response) => {
    const person = signedInOf(response);
    const { owner, limit, after } = parse(listQuery, request.query);
    const party = partyOf(owner);
    requireAccess('file.see', person, party);
    const [page, use] = await Promise.all([
      files.list(owner.id, { newestFirst: true, limit, after }),
      files.use(owner.id),
    ]);
    const answer: FileList = {
      files: (page?.files ?? []).map(fileAnswer),
      more: page?.hasMore ?? false,
      use,
      mayRead: mayDo('file.read', asOwner(person, party), party),
      mayDelete: mayDo('file.delete', person, party),
    };
    response.json(answer);
  });
  routes.get('/files/:id/content', async (request, response) => {
    const { file } = await find(request, response, 'file.read');
    await sendFile(request, response, file);
  });
  routes.delete('/files/:id', async (request, response) => {
    const { file, owner } = await find(request, response, 'file.delete');
    if (!(await files.remove(owner, file.id))) throw notFound();
    const target = { kind: 'file', id: file.id, name: file.name };
    await record(parts, signedInOf(response), { action: 'file.delete', target, details: { bytes: file.bytes } });
    response.status(204).end();
  });
  return routes;

  /** A file that this person may do this to. @throws ApiFailure 403 or 404 */
  async function find(
    request: Request<{ id: string }>,
    response: Response,
    action: Action,
  ): Promise<{ file: FileRecord; owner: string }> {
    const person = signedInOf(response);
    const { owner } = parse(ownerQuery, request.query);
    const party = partyOf(owner);
    requireAccess(action, action === 'file.read' ? asOwner(person, party) : person, party);
    const id = fileId.safeParse(request.params.id).data;
    const file = id === undefined ? undefined : await files.find(owner.id, id);
    if (!file) throw notFound();
    return { file, owner: owner.id };
  }
}

function fileAnswer({ id, name, purpose, bytes, lines, createdAt, expiresAt }: FileRecord): OwnedFile {
  return { id, name, purpose, bytes, lines, createdAt, ...(expiresAt !== undefined && { expiresAt }) };
}
