import type { IncomingHttpHeaders } from 'node:http';
import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ModelOperation } from '#shared/core/operation.ts';

/** The format of translated requests: the wire format of an engine or provider, or the input of a command-line agent. */
export interface UpstreamFormat {
  /** Name in settings and docs. Unique among the upstream formats. */
  name: string;
}

/** A request that is no JSON. */
export interface EncodedRequest {
  contentType: string;
  /** In pieces. */
  body: Buffer[];
}

/**
 * `ping`: only shows that the connection lives. `finish`: says why the answer ends; its usage may follow, and other choices. `last`: nothing
 * follows.
 */
export type EventKind = 'answer' | 'ping' | 'finish' | 'last';

/** A wire format of upstreams over HTTP: all that a worker needs besides its translations. */
export interface HttpUpstreamFormat extends UpstreamFormat {
  /** What a model that is served in it does. */
  operation: ModelOperation;
  /** Path below the upstream's base URL, such as `/chat/completions`. */
  path: string;
  /** Headers of every request; the client's passed headers replace them. */
  headers: Readonly<Record<string, string>>;
  /**
   * Writes a translated request where that is not done in JSON.
   * @param boundary a text that occurs nowhere in the request
   */
  encode?(request: JsonObject, boundary: string): EncodedRequest;
  /** Input tokens of a translated request, estimated. */
  estimateInput(request: JsonObject): number;
  /** Reads the router's error from an error answer. */
  readError(status: number, body: string, headers: IncomingHttpHeaders): RouterError;
  /** What a stream's event means for the wait for more; absent for a format whose streams have none but answers. */
  kindOfEvent?(data: string): EventKind;
  /** Counts a request's input tokens without inference; undefined for a format without such a path. */
  count?: {
    path: string;
    /** The part of a request that may be counted; undefined if it is all of it. */
    request?: (request: JsonObject) => JsonObject;
    /** Reads the count from an answer with status 200; undefined if it has none. */
    read(body: unknown): number | undefined;
  };
}
