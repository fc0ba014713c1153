import type {
  SearchResult,
  StoredResponse,
  StoredResponses,
} from '#shared/accounts/stored-responses/stored-responses.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Json, JsonObject } from '#shared/core/json.ts';
import type { ClientFormat, ClientRequest, ClientRoute } from '#shared/formats/client-format.ts';
import type { StoredAnswers } from '#shared/formats/stored-answers.ts';

export interface AnswerStore {
  responses: Pick<StoredResponses, 'store' | 'find' | 'readHistory' | 'readItems' | 'delete'>;
  /** Whether answers are stored. An operator may have disabled this. */
  stores: boolean;
  /** @throws RouterError `store_unavailable` while the store is known to have lost its data */
  assertIntact: () => void;
}

/** The part of a request that is stored with its answer. */
export interface AnswerToStore {
  input: JsonObject[];
  previous: string | undefined;
}

/** A request in which all references are resolved. */
export interface ResolvedRequest {
  request: ClientRequest;
  /** Fields for its worker, see `withFields`; undefined for none. */
  fields: Readonly<Record<string, Json>> | undefined;
  /** Bytes that the request has in addition to the client's body. */
  addedBytes: number;
  /** Undefined if the answer is not stored. */
  toStore: AnswerToStore | undefined;
}

export function refersToStored({ store }: Pick<ClientRequest, 'store'>): boolean {
  return store !== undefined && (store.previous !== undefined || store.references.length > 0);
}

const noItems: ReadonlyMap<string, JsonObject> = new Map();

/**
 * Replaces a request's references with the stored content: the answer that it continues, and single items.
 * @param owner the owner to whose answers the request may refer
 * @param seed see `StoreRequest.input`
 * @throws RouterError `previous_response_not_found`, `not_found`, `unsupported_parameter` if responses are not stored,
 * `context_length_exceeded` for a history that is too long, `store_unavailable`, `overloaded`, or as `read` of the format does
 */
export async function resolveStored(
  { responses, stores, assertIntact }: AnswerStore,
  format: Pick<ClientFormat, 'read' | 'stored'>,
  operation: ClientRoute['operation'],
  request: ClientRequest,
  owner: string,
  seed?: string,
): Promise<ResolvedRequest> {
  const { store: storeRequest } = request;
  if (!storeRequest || !format.stored) return { request, fields: undefined, addedBytes: 0, toStore: undefined };
  const { previous, references } = storeRequest;
  if (!stores) assertStoreless(storeRequest);
  const refers = refersToStored(request);
  if (refers) assertIntact();
  const items = references.length === 0 ? noItems : itemsFound(await responses.readItems(owner, references));
  const history =
    previous === undefined ? [] : historyFound(await responses.readHistory(owner, previous), format.stored);
  const isStored = stores && operation === 'generate' && storeRequest.store !== false;
  const fields = format.stored.storeField(isStored);
  if (!refers && !isStored) return { request, fields, addedBytes: 0, toStore: undefined };
  const input = storeRequest.input(items, seed);
  const body = refers ? storeRequest.resolved(history, input) : undefined;
  const whole = body ? format.read(body, operation) : request;
  return {
    request: whole,
    fields,
    addedBytes: body?.length ?? 0,
    toStore: isStored ? { input, previous } : undefined,
  };
}

export function withFields(request: ClientRequest, fields: ResolvedRequest['fields']): ClientRequest {
  if (!fields) return request;
  const repeated = request.repeated && { ...request.repeated, ...fields };
  return { ...request, repeated, withDefaults: (defaults) => request.withDefaults({ ...defaults, ...fields }) };
}

function assertStoreless({ store, previous, references }: NonNullable<ClientRequest['store']>): void {
  const param = store ? 'store' : previous !== undefined ? 'previous_response_id' : 'input';
  if (store !== true && previous === undefined && references.length === 0) return;
  throw new RouterError(
    'unsupported_parameter',
    'This router stores no responses. Send `store: false`, and the whole conversation as input.',
    { param },
  );
}

function itemsFound(found: SearchResult<Map<string, JsonObject>>): Map<string, JsonObject> {
  if (found === 'too long') throw tooLong('input');
  if ('found' in found) return found.found;
  throw new RouterError(
    'not_found',
    `Item with id '${found.missing}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    { param: 'input' },
  );
}

function historyFound(found: SearchResult<StoredResponse[]>, { output: outputOf }: StoredAnswers): JsonObject[] {
  if (found === 'too long') throw tooLong('previous_response_id');
  if ('found' in found) return found.found.flatMap(({ input, response }) => [...input, ...outputOf(response)]);
  throw new RouterError('previous_response_not_found', `Previous response with id '${found.missing}' not found.`, {
    param: 'previous_response_id',
  });
}

function tooLong(param: string): RouterError {
  return new RouterError('context_length_exceeded', 'The stored conversation is too long for one request.', { param });
}
