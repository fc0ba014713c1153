import type { Json, JsonObject } from '#shared/core/json.ts';

export interface StoreRequest {
  /** Whether the client requests that the answer is stored; undefined if the request does not say. */
  store: boolean | undefined;
  /** Id of the stored answer that the request continues; undefined if there is no such answer. */
  previous: string | undefined;
  /** Ids of the stored items that the input refers to, without duplicates. */
  references: readonly string[];
  /**
   * Returns the items of the request's own input in the stored form, each with an id.
   * @param items the stored items that the input refers to, by id
   * @param seed letters and digits, unique to the request, from which ids are made; random if undefined
   */
  input: (items: ReadonlyMap<string, JsonObject>, seed?: string) => JsonObject[];
  /**
   * Returns the text of the request with a whole input that contains no references.
   * @param history the items of the answers that the request continues, and of the inputs of these answers, oldest first
   * @param input the request's own items
   */
  writeResolved: (history: readonly JsonObject[], input: readonly JsonObject[]) => Buffer;
}

export interface StorableAnswer {
  answer: JsonObject;
  /** The JSON text as received. */
  text: Uint8Array;
}

/** How the answers of a format are stored, and how clients read them later. */
export interface StoredAnswers {
  /** The path below the API's prefixes. The path of one answer adds its id. */
  path: string;
  /** Returns request fields that show the worker whether the answer will be stored. */
  storeField: (isStored: boolean) => Readonly<Record<string, Json>>;
  /**
   * Finds the event that ends the stream. Returns the offset of its beginning in a piece; -1 if it does not begin in this piece. The piece
   * starts at the beginning of a line. Called for every piece.
   */
  findLastEvent: (piece: Uint8Array) => number;
  /** Number of bytes at the beginning of that event that suffice to recognize it. */
  lastEventMarkBytes: number;
  /** Reads the answer from the event that ends a stream; undefined for an answer not worth storing. */
  readLastEvent: (event: Buffer) => StorableAnswer | undefined;
  /** Reads an answer that is not streamed; undefined for an answer not worth storing. */
  readWhole: (bytes: Buffer) => StorableAnswer | undefined;
  readOutput: (answer: JsonObject) => readonly JsonObject[];
  /** Returns the answer in the stored form, which includes the id of the previous answer. Returns the same object if nothing changes. */
  toStoredAnswer: (answer: JsonObject, previous: string | undefined) => JsonObject;
  /** Returns the items of a request's input in the stored form, without credentials. */
  toStoredInput: (items: readonly JsonObject[]) => JsonObject[];
  /**
   * Returns one page of items for a query.
   * @throws RouterError `invalid_request`
   */
  listItems: (items: readonly JsonObject[], query: Readonly<Record<string, unknown>>) => object;
  showRemoval: (id: string) => object;
}
