import type { Json, JsonObject } from '#shared/core/json.ts';

/** What a request has to do with answers that are stored. */
export interface StoreRequest {
  /** Whether the client has the answer stored; undefined if it leaves that to the router. */
  store: boolean | undefined;
  /** Id of the stored answer that the request continues. */
  previous: string | undefined;
  /** Ids of the stored items that its input refers to, each once. */
  references: readonly string[];
  /**
   * The items of its own input as they are stored, each with an id.
   * @param items the stored items that it refers to, by their ids
   * @param seed a text of letters and digits that no other request has, from which ids are made; default: a random one
   */
  input: (items: ReadonlyMap<string, JsonObject>, seed?: string) => JsonObject[];
  /**
   * The text of the request with the whole input in place of what it refers to.
   * @param history the items of the answers that it continues, and of their inputs, oldest first
   * @param input its own
   */
  resolved: (history: readonly JsonObject[], input: readonly JsonObject[]) => Buffer;
}

/** An answer that is worth storing. */
export interface ReadAnswer {
  answer: JsonObject;
  /** Its JSON text, as it came. */
  text: Uint8Array;
}

/** How the answers of a format are stored, and read again at paths of their own. */
export interface StoredAnswers {
  /** The path below the API's prefixes. An id follows it. */
  path: string;
  /** Fields of a request, for the worker to know whether its answer will be stored. */
  storeField: (isStored: boolean) => Readonly<Record<string, Json>>;
  /** Where the event that ends a stream begins in a piece of it that begins with a line; -1 if it does not. Called for every piece. */
  lastEventAt: (piece: Uint8Array) => number;
  /** Bytes of the longest beginning by which such an event is recognised. */
  lastEventMark: number;
  /** The answer of the event that ends a stream; undefined unless it is worth storing. */
  readLastEvent: (event: Buffer) => ReadAnswer | undefined;
  /** The same of an answer that is not streamed. */
  readWhole: (bytes: Buffer) => ReadAnswer | undefined;
  /** The items of an answer's object. */
  outputOf: (answer: JsonObject) => readonly JsonObject[];
  /** The answer as it is stored: with the id of the one that it continues. The same object if it is stored as it is. */
  storedForm: (answer: JsonObject, previous: string | undefined) => JsonObject;
  /** The items of a request's input as they are stored: without credentials for what they name. */
  storedInput: (items: readonly JsonObject[]) => JsonObject[];
  /** One page of items, for the query of its request. @throws RouterError `invalid_request` */
  listItems: (items: readonly JsonObject[], query: Readonly<Record<string, unknown>>) => object;
  /** The body that confirms that an answer was removed. */
  removed: (id: string) => object;
}
