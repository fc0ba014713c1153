import type { IncomingHttpHeaders } from 'node:http';
import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { ModelOperation } from '#shared/core/operation.ts';

/** The format of translated requests: the wire format of an engine or provider, or the input of a command-line agent. */
export interface UpstreamFormat {
  /** Name in settings and docs. Unique among the upstream formats. */
  name: string;
}

export interface EncodedRequest {
  contentType: string;
  body: Buffer[];
}

/**
 * `answer`: an event of any other kind. `ping`: shows only that the connection is alive. `finish`: has a finish reason; the usage and other
 * choices may follow. `last`: nothing follows.
 */
export type EventKind = 'answer' | 'ping' | 'finish' | 'last';

/** A wire format of HTTP upstreams. Describes everything about the format that a worker needs besides the translations. */
export interface HttpUpstreamFormat extends UpstreamFormat {
  operation: ModelOperation;
  /** Path below the upstream's base URL, such as `/chat/completions`. */
  path: string;
  /** Headers of every request. Headers passed on from the client take precedence. */
  headers: Readonly<Record<string, string>>;
  /**
   * Encodes a translated request if the format is not JSON.
   * @param boundary a text that occurs nowhere in the request
   */
  encode?(request: JsonObject, boundary: string): EncodedRequest;
  estimateInput(request: JsonObject): number;
  readError(status: number, body: string, headers: IncomingHttpHeaders): RouterError;
  /** Classifies an event of a stream by what may follow the event. Absent for a format whose streams have only answer events. */
  classifyEvent?(data: string): EventKind;
  /** How to count a request's input tokens without inference. Absent for a format without a path for that. */
  count?: {
    path: string;
    /** Returns the fields of a request that the count path accepts. Absent if the path accepts the whole request. */
    request?: (request: JsonObject) => JsonObject;
    /** Reads the count from an answer with status 200; undefined if the answer has no count. */
    read(body: unknown): number | undefined;
  };
}
