import { storeOwnerOf } from '#shared/accounts/keys/key-record.ts';
import { createAnswerId } from '#shared/formats/answer-id.ts';
import type { ClientFormat, ClientRequest, ClientRoute } from '#shared/formats/client-format.ts';
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
  /** What the format has read from the body. */
  client: ClientRequest;
  /** The id that the answer must have; undefined if the worker chooses it. */
  answerId?: string | undefined;
  /** What is stored with the answer; undefined if the answer is not stored. */
  toStore?: AnswerToStore | undefined;
  /** The models behind the name; undefined if the name is not resolved yet. */
  model?: ResolvedModel | undefined;
}

export interface PrepareComponents {
  answers: AnswerStore;
  inputFiles: InputFiles;
}

/** Counts the memory of a request beside its body. */
export interface RequestAccount {
  /**
   * Reserves bytes that are about to be read.
   * @throws RouterError which ends the request
   */
  grow(bytes: number): void | Promise<void>;
  /**
   * Called before objects are read whose size is known only afterwards.
   * @throws RouterError which ends the request
   */
  beginHeavyWork?(): Promise<void>;
}

/**
 * Prepares a request for `serveRequest`: puts stored answers and files into it in place of their ids, and decides what is stored with the
 * answer, and under which id. A request that refers to nothing needs no wait.
 * @param request `answerId` is set for an answer that was promised under an id
 * @returns undefined if the caller has left
 * @throws RouterError as `resolveStored`, `inlineFiles` and the account do
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
  const owner = storeOwnerOf(caller.identity);
  if (refersToStoredAnswers(client)) await account.beginHeavyWork?.();
  const resolved = await resolveStored(answers, format, operation, client, owner, request.answerId);
  const { request: whole, fields, addedBytes, toStore } = resolved;
  if (caller.isGone()) return undefined;
  if (addedBytes > 0) await account.grow(addedBytes);
  const inlining = { format, operation, owner, onBytes: (bytes: number) => account.grow(bytes) };
  const inlined = whole.files ? await inlineFiles(inputFiles, whole, inlining) : whole;
  if (caller.isGone()) return undefined;
  return { format, operation, client: withFields(inlined, fields), answerId, toStore };
}

/**
 * Prepares a further request in place of one whose hosted tools the router runs or leaves out. No upstream need run a hosted tool for it.
 * @param body the body of the further request; absent for the same body
 */
export function prepareTurn(request: PreparedRequest, model: ResolvedModel, body?: Buffer): PreparedRequest {
  const { format, operation, answerId } = request;
  const client = body ? format.read(body, operation) : request.client;
  const { parameters } = client;
  const needs = { ...parameters.needs, hosted: undefined };
  return { format, operation, answerId, model, client: { ...client, parameters: { ...parameters, needs } } };
}
