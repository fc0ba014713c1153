import type {
  ReserveBytes,
  SearchResult,
  StoredResponse,
  StoredResponses,
} from '#shared/accounts/responses/stored/stored-responses.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import type { ClientFormat, ClientRequest, ClientRoute } from '#shared/formats/client-format.ts';
import type { StoredAnswers } from '#shared/formats/stored-answers.ts';

export interface AnswerStore {
  responses: Pick<StoredResponses, 'store' | 'find' | 'readHistory' | 'readItems' | 'delete'>;
  /** Whether answers are stored. An operator may have disabled this. */
  storesAnswers: boolean;
  /** @throws RouterError `store_unavailable` while the store is known to have lost its data */
  assertIntact: () => void;
}

/** The part of a request that is stored with its answer. */
export interface AnswerToStore {
  input: JsonObject[];
  previous: string | undefined;
}

/** A request without unresolved references to stored answers. */
export interface ResolvedRequest {
  request: ClientRequest;
  /** Fields that are added to the request for the worker, see `withFields`; undefined if there are none. */
  fields: Readonly<Record<string, Json>> | undefined;
  /** Bytes of the resolved body, in addition to the client's body. 0 if nothing was resolved. */
  addedBytes: number;
  /** Undefined if the answer is not stored. */
  toStore: AnswerToStore | undefined;
}

/** Whether a request refers to stored answers or items. */
export function refersToStoredAnswers({ store }: Pick<ClientRequest, 'store'>): boolean {
  return store !== undefined && (store.previous !== undefined || store.references.length > 0);
}

/** @throws RouterError, which ends the request */
type GrowMemory = (bytes: number) => void | Promise<void>;

const noItems: ReadonlyMap<string, JsonObject> = new Map();

/**
 * Replaces a request's references to stored answers and items with the stored content.
 * @param owner the owner of the answers that the request may refer to
 * @param grow called with a number of further bytes, before large answers are read
 * @param seed see `StoreRequest.input`
 * @throws RouterError `previous_response_not_found`, `not_found`, `unsupported_parameter` if responses are not stored,
 * `context_length_exceeded` for a history that is too long, `store_unavailable`, `overloaded`, or an error of the format's `read`
 */
export async function resolveStored(
  { responses, storesAnswers, assertIntact }: AnswerStore,
  format: Pick<ClientFormat, 'read' | 'stored'>,
  operation: ClientRoute['operation'],
  request: ClientRequest,
  owner: string,
  grow: GrowMemory,
  seed?: string,
): Promise<ResolvedRequest> {
  const { store: storeRequest } = request;
  if (!storeRequest || !format.stored) return { request, fields: undefined, addedBytes: 0, toStore: undefined };
  const { previous, references } = storeRequest;
  if (!storesAnswers) refuseStoredContent(storeRequest);
  const hasReferences = refersToStoredAnswers(request);
  if (hasReferences) assertIntact();
  const items =
    references.length === 0 ? noItems : requireItems(await responses.readItems(owner, references, reserveBy(grow)));
  const history =
    previous === undefined
      ? []
      : requireHistory(await responses.readHistory(owner, previous, reserveBy(grow)), format.stored);
  const isStored = storesAnswers && operation === 'generate' && storeRequest.store !== false;
  const fields = format.stored.storeField(isStored);
  if (!hasReferences && !isStored) return { request, fields, addedBytes: 0, toStore: undefined };
  const input = storeRequest.input(items, seed);
  const body = hasReferences ? storeRequest.writeResolved(history, input) : undefined;
  const wholeRequest = body ? format.read(body, operation) : request;
  return {
    request: wholeRequest,
    fields,
    addedBytes: body?.length ?? 0,
    toStore: isStored ? { input, previous } : undefined,
  };
}

/** Reserves the memory of one read by growing what is reserved. A read that is repeated, as after an outage, reserves nothing twice. */
function reserveBy(grow: GrowMemory): ReserveBytes {
  let reservedBytes = 0;
  return async (bytes) => {
    if (bytes <= reservedBytes) return;
    await grow(bytes - reservedBytes);
    reservedBytes = bytes;
  };
}

/** Returns the request with fields that the router adds for the worker. */
export function withFields(request: ClientRequest, fields: ResolvedRequest['fields']): ClientRequest {
  if (!fields) return request;
  const repeated = request.repeated && { ...request.repeated, ...fields };
  return { ...request, repeated, withDefaults: (defaults) => request.withDefaults({ ...defaults, ...fields }) };
}

function refuseStoredContent({ store, previous, references }: NonNullable<ClientRequest['store']>): void {
  const param = store ? 'store' : previous !== undefined ? 'previous_response_id' : 'input';
  if (store !== true && previous === undefined && references.length === 0) return;
  throw new RouterError(
    'unsupported_parameter',
    'This router stores no responses. Send `store: false`, and the whole conversation as input.',
    { param },
  );
}

function requireItems(result: SearchResult<Map<string, JsonObject>>): Map<string, JsonObject> {
  if (result === 'too long') throw createTooLongError('input');
  if ('found' in result) return result.found;
  throw new RouterError(
    'not_found',
    `Item with id '${result.missing}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    { param: 'input' },
  );
}

function requireHistory(result: SearchResult<StoredResponse[]>, { readOutput }: StoredAnswers): JsonObject[] {
  if (result === 'too long') throw createTooLongError('previous_response_id');
  if ('found' in result) return result.found.flatMap(({ input, response }) => [...input, ...readOutput(response)]);
  throw new RouterError('previous_response_not_found', `Previous response with id '${result.missing}' not found.`, {
    param: 'previous_response_id',
  });
}

function createTooLongError(param: string): RouterError {
  return new RouterError('context_length_exceeded', 'The stored conversation is too long for one request.', { param });
}
