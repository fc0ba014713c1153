import { findStoreOwner } from '#shared/accounts/keys/key-record.ts';
import {
  createAnswerId,
  type ClientFormat,
  type ClientRequest,
  type ClientRoute,
} from '#shared/formats/client-format.ts';
import type { Caller } from './caller.ts';
import { inlineFiles, type InputFiles } from './files/inline-files.ts';
import type { ResolvedModel } from './resolve-model.ts';
import {
  refersToStoredAnswers,
  resolveStored,
  withFields,
  type AnswerStore,
  type AnswerToStore,
} from './stored/resolve-stored.ts';

/** A request with everything that it refers to. `serveRequest` serves it. */
export interface PreparedRequest {
  format: ClientFormat;
  operation: ClientRoute['operation'];
  /** The request as the format has read it from the body. */
  client: ClientRequest;
  /** The id that the answer must have; undefined if the worker chooses the id. */
  answerId?: string | undefined;
  /** The part of the request that is stored with the answer; undefined if the answer is not stored. */
  toStore?: AnswerToStore | undefined;
  /** The models behind the name; undefined if the name is not resolved yet. */
  model?: ResolvedModel | undefined;
}

export interface PrepareComponents {
  answers: AnswerStore;
  inputFiles: InputFiles;
}

/** Counts the memory of a request, except for its body. */
export interface RequestAccount {
  /**
   * Reserves bytes that are about to be read.
   * @throws RouterError, which ends the request
   */
  grow(bytes: number): void | Promise<void>;
  /** Gives back reserved bytes that are no longer in use. */
  shrink(bytes: number): void;
  /**
   * Called before the router reads stored objects of unknown size.
   * @throws RouterError, which ends the request
   */
  beginHeavyWork?(): Promise<void>;
}

/**
 * Prepares a request for `serveRequest`. Replaces the ids of stored answers and of files with their content. Decides whether the answer is
 * stored, and under which id.
 * @param request `answerId` is set if the client already has the id of the answer
 * @returns undefined if the caller has left
 * @throws RouterError of `resolveStored`, `inlineFiles` or the account
 */
export async function prepareRequest(
  { answers, inputFiles }: PrepareComponents,
  request: Omit<PreparedRequest, 'toStore' | 'model'>,
  caller: Pick<Caller, 'identity' | 'isGone'>,
  account: RequestAccount,
): Promise<PreparedRequest | undefined> {
  const { format, operation, client } = request;
  const choosesId = format.choosesAnswerIds === true && operation === 'generate';
  const answerId = request.answerId ?? (choosesId ? createAnswerId(format) : undefined);
  if (!client.store && !client.files) return answerId === request.answerId ? request : { ...request, answerId };
  const owner = findStoreOwner(caller.identity);
  if (refersToStoredAnswers(client)) await account.beginHeavyWork?.();
  let reservedBytes = 0;
  const grow = async (bytes: number): Promise<void> => {
    await account.grow(bytes);
    reservedBytes += bytes;
  };
  const resolved = await resolveStored(answers, format, operation, client, owner, grow, request.answerId);
  const { request: resolvedRequest, fields, addedBytes, toStore } = resolved;
  if (caller.isGone()) return undefined;
  if (addedBytes > reservedBytes) await account.grow(addedBytes - reservedBytes);
  else account.shrink(reservedBytes - addedBytes);
  const inlining = { format, operation, owner, onBytes: (bytes: number) => account.grow(bytes) };
  const inlined = resolvedRequest.files ? await inlineFiles(inputFiles, resolvedRequest, inlining) : resolvedRequest;
  if (caller.isGone()) return undefined;
  return { format, operation, client: withFields(inlined, fields), answerId, toStore };
}

/**
 * Prepares one turn of a request with hosted tools that the router runs or leaves out. The upstream of the turn needs no hosted tools.
 * @param body the body of the turn; absent for the body of the request
 */
export function prepareTurn(request: PreparedRequest, model: ResolvedModel, body?: Buffer): PreparedRequest {
  const { format, operation, answerId } = request;
  const client = body ? format.read(body, operation) : request.client;
  const { parameters } = client;
  const needs = { ...parameters.needs, hosted: undefined };
  return { format, operation, answerId, model, client: { ...client, parameters: { ...parameters, needs } } };
}
