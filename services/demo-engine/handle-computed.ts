import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ModelOperation } from '#shared/core/operation.ts';
import { answerWithSlot } from './answer-with-slot.ts';
import { requireModel, type Engine } from './engine.ts';
import { sendComputed, type ComputedBody } from './reply/send-computed.ts';
import { findDemoWords, resolveDemoOptions } from './request/demo-options.ts';

/** Handles one request. Throws RouterError when the request is refused, and the signal's reason when the client disconnects. */
export type Handle = (
  engine: Engine,
  http: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
) => Promise<void>;

/** A request for an answer that is not generated token by token. */
export interface ComputedRequest {
  model: string;
  /** The request's `demo` field; undefined if there is no such field. */
  demo: unknown;
  /** The text that may contain a `[demo …]` line. */
  demoText: string;
  /** Names of the body's fields, in the order of their arrival. */
  fields: string[];
  /** Number of inputs of the request. */
  inputs: number;
  promptTokens: number;
  /** Computes the answer. The same request always gets the same answer. */
  compute: (id: string) => ComputedBody;
}

/**
 * Creates the handler of an endpoint with computed answers.
 * @param idPrefix start of the ids of answers
 * @param read reads and checks a request; throws RouterError when the request is refused
 */
export function createComputedHandler(
  operation: ModelOperation,
  idPrefix: string,
  read: (
    http: IncomingMessage,
    /** Checks that the model exists and serves the endpoint. Workers that probe a model's operations send empty inputs, so this comes first. */
    requireServed: (model: string) => void,
    signal: AbortSignal,
  ) => Promise<ComputedRequest>,
): Handle {
  return async (engine, http, response, signal) => {
    const request = await read(http, (model) => requireModel(engine, model, operation), signal);
    const { model, demo: options, demoText, fields, inputs, promptTokens, compute } = request;
    const demo = resolveDemoOptions(engine.defaults, options, findDemoWords(demoText));
    const facts = {
      id: `${idPrefix}-${randomUUID()}`,
      model,
      stream: false,
      messages: inputs,
      tools: 0,
      fields,
      request_id: http.headers['x-request-id']?.toString() ?? null,
      prompt_tokens: promptTokens,
    };
    await answerWithSlot(engine, { facts, demo, response, signal }, ({ id }) =>
      sendComputed(compute(id), demo, response, signal),
    );
  };
}
