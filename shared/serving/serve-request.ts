import type { Caller } from './caller.ts';
import { serveHosted } from './hosted/serve-hosted.ts';
import type { PreparedRequest } from './prepare-request.ts';
import type { RequestOptions } from './request-options.ts';
import type { RunningRequest } from './run-job.ts';
import { serveModel, type ModelSink, type ServingComponents } from './serve-model.ts';
import type { AnswerStorer } from './stored/answer-storer.ts';
import { createStoringSink } from './stored/storing-sink.ts';

export interface RequestComponents extends ServingComponents {
  /** Stores answers; absent if the caller stores them itself. */
  storer?: AnswerStorer | undefined;
}

/**
 * Serves one prepared request, independent of HTTP, and stores its answer if `toStore` is set. All HTTP requests, lines of batches and
 * background responses pass through `prepareRequest` and this function.
 * @returns the running request; undefined if the caller has left
 * @throws RouterError of `serveModel` or `serveHosted`
 */
export function serveRequest(
  parts: RequestComponents,
  request: PreparedRequest,
  options: RequestOptions,
  sink: ModelSink,
  caller: Caller,
): Promise<RunningRequest | undefined> {
  const { client, format, toStore } = request;
  const { storer } = parts;
  let answerSink = sink;
  if (toStore && format.stored && storer) {
    // The input of a stored answer stays in memory until the answer is complete.
    sink.keepBody?.();
    answerSink = createStoringSink(sink, caller, {
      format: format.stored,
      stream: client.parameters.stream,
      toStore,
      storer,
    });
  }
  if (client.hosted) return serveHosted(parts, request, client.hosted, options, answerSink, caller);
  return serveModel(parts, request, options, answerSink, caller);
}
