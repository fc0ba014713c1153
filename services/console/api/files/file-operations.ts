import type { Request, Response } from 'express';
import { z } from 'zod';
import type { FileRecord } from '#shared/accounts/files/file-records.ts';
import type { Files } from '#shared/files/files.ts';
import { fileListSchema, type OwnedFile } from '../../contract/batches.ts';
import { mayDo, requireAccess, type Action } from '../access.ts';
import type { Actor } from '../actor.ts';
import { notFound } from '../api-failure.ts';
import { writeAudit, type ApiParts } from '../api-parts.ts';
import { asMemberIfOwner, ownerText, toResourceOwner, parseOwner } from '../batches/resource-owners.ts';
import { fileOperation, operation, type Operation } from '../operations/operation.ts';

const fileId = z.string().regex(/^\w{1,80}$/, 'This is not the id of a file.');
const listQuery = z.object({
  owner: ownerText,
  limit: z.coerce.number().int().min(1).max(500).default(50),
  after: fileId.optional(),
});
const ownerQuery = z.object({ owner: ownerText });

export interface FileParts extends Pick<ApiParts, 'accounts' | 'log'> {
  files: Pick<Files, 'list' | 'find' | 'use' | 'delete'>;
  sendFile: (request: Request, response: Response, file: FileRecord) => Promise<void>;
}

export function fileOperations(parts: FileParts): Operation[] {
  const { files, sendFile } = parts;
  return [
    operation({
      method: 'get',
      path: '/files',
      id: 'listFiles',
      subject: 'batches',
      summary: 'Lists the files of a person, a team or a router key, newest first.',
      scopes: ['read'],
      command: 'admin files list',
      form: {
        arguments: ['owner'],
        items: 'files',
        columns: ['id', 'purpose', 'bytes', 'createdAt', 'expiresAt', 'name'],
        none: 'There are no files.',
      },
      query: listQuery,
      answer: fileListSchema,
      handle: async ({ actor, query: { owner: text, limit, after } }) => {
        const owner = parseOwner(text);
        const resourceOwner = toResourceOwner(owner);
        requireAccess('file.see', actor, resourceOwner);
        const [page, use] = await Promise.all([
          files.list(owner.id, { newestFirst: true, limit, after }),
          files.use(owner.id),
        ]);
        return {
          files: (page?.files ?? []).map(toFileAnswer),
          more: page?.hasMore ?? false,
          use,
          mayRead: mayDo('file.read', asMemberIfOwner(actor, resourceOwner), resourceOwner),
          mayDelete: mayDo('file.delete', actor, resourceOwner),
        };
      },
    }),
    fileOperation({
      path: '/files/{id}/content',
      id: 'getFileContent',
      subject: 'batches',
      summary: 'Writes the content of a file. Only the owner of the file may read it.',
      scopes: [],
      command: 'admin files download',
      query: ownerQuery,
      files: ['application/octet-stream'],
      handle: async ({ actor, params: { id }, query, request, response }) => {
        const { file } = await find(actor, { id, ...query }, 'file.read');
        await sendFile(request, response, file);
      },
    }),
    operation({
      method: 'delete',
      path: '/files/{id}',
      id: 'deleteFile',
      subject: 'batches',
      summary: 'Deletes a file.',
      scopes: [],
      command: 'admin files delete',
      form: { done: 'The file {file} is deleted.' },
      query: ownerQuery,
      handle: async ({ actor, params: { id }, query }) => {
        const { file, owner } = await find(actor, { id, ...query }, 'file.delete');
        if (!(await files.delete(owner.id, file.id))) throw notFound();
        const target = { kind: 'file', id: file.id, name: file.name };
        const details = { kind: owner.kind, ownerId: owner.id, bytes: file.bytes };
        await writeAudit(parts, actor, { action: 'file.delete', target, details, ofTeam: actor.teams.has(owner.id) });
      },
    }),
  ];

  /**
   * Finds a file and checks that the person may do the action on it.
   * @throws ApiFailure 403 or 404
   */
  async function find(
    actor: Actor,
    wanted: { id: string; owner: string },
    action: Action,
  ): Promise<{ file: FileRecord; owner: ReturnType<typeof parseOwner> }> {
    const owner = parseOwner(wanted.owner);
    const resourceOwner = toResourceOwner(owner);
    requireAccess(action, action === 'file.read' ? asMemberIfOwner(actor, resourceOwner) : actor, resourceOwner);
    const id = fileId.safeParse(wanted.id).data;
    const file = id === undefined ? undefined : await files.find(owner.id, id);
    if (!file) throw notFound();
    return { file, owner };
  }
}

function toFileAnswer({ id, name, purpose, bytes, lines, createdAt, expiresAt }: FileRecord): OwnedFile {
  return { id, name, purpose, bytes, lines, createdAt, ...(expiresAt !== undefined && { expiresAt }) };
}
