import type { IncomingHttpHeaders } from 'node:http';
import type { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';

/** What requests are translated to: the wire format of an engine or provider, or what drives a command-line agent. */
export interface UpstreamFormat {
  /** Name in settings and docs. Unique among the upstream formats. */
  name: string;
}

/** A wire format that upstreams are asked in over HTTP, with what must be known of it besides its translations. */
export interface HttpUpstreamFormat extends UpstreamFormat {
  /** Path below the upstream's base URL, as `/chat/completions`. */
  path: string;
  /** Headers that every request in this format carries unless the client's own replace them. */
  headers: Readonly<Record<string, string>>;
  /** Tokens of a translated request's input, estimated. */
  estimateInput(request: JsonObject): number;
  /** The router's error for an answer that is one. */
  readError(status: number, body: string, headers: IncomingHttpHeaders): RouterError;
  /** Whether an event's data is that of a stream's last event. */
  isLastEvent(data: string): boolean;
  /** How the upstream counts a request's input tokens without inference; undefined for a format without such a path. */
  count?: {
    path: string;
    /** Reads the count from an answer with status 200; undefined when there is none in it. */
    read(body: unknown): number | undefined;
  };
}
