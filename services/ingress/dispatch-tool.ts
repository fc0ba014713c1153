import type { Response } from 'express';
import type { JobSink } from '#shared/broker/dispatch/job.ts';
import { RouterError } from '#shared/core/errors.ts';
import { chooseToolLanes } from './choose-tool-lanes.ts';
import { requestIdOf } from './request-id.ts';
import { identityOf } from './require-key.ts';
import type { ServeParts } from './serve.ts';
import { toolsFormat } from './tools-format.ts';

export type ToolParts = Pick<ServeParts, 'dispatcher' | 'workers' | 'record'>;

/** A call of a tool, from whichever door it came. */
export interface ToolRequest {
  tool: string;
  /** The call as the worker reads it: `{tool, input}`. */
  body: Buffer;
  /** Whether the answer is to come as events, progress among them. */
  stream: boolean;
  /** The HTTP exchange that it belongs to: it knows the request's id and key. */
  response: Response;
}

/** A dispatched call of a tool. */
export interface ToolJob {
  cancel: () => void;
  /** Resolves when the call is over and recorded, however it went. */
  finished: Promise<void>;
}

/**
 * Gives a call of a tool to the workers that have it; the sink hears of the answer.
 * @throws RouterError `not_found` for a tool that no worker has ever had
 */
export function dispatchTool(parts: ToolParts, request: ToolRequest, sink: JobSink): ToolJob {
  const { dispatcher, workers, record } = parts;
  const { tool, body, stream, response } = request;
  if (!workers.isKnownTool(tool)) {
    const message = `The tool '${tool}' does not exist, or no worker has ever had it here.`;
    throw new RouterError('not_found', message, { param: 'tool' });
  }
  const job = dispatcher.dispatch(
    {
      requestId: requestIdOf(response),
      operation: 'execute_tool',
      family: 'tools',
      stream,
      class: identityOf(response).class,
      body,
      place: (avoid) => chooseToolLanes(tool, workers.pools(), avoid),
    },
    sink,
  );
  const finished = job.finished.then((report) => record(response, toolsFormat, report));
  return { cancel: () => dispatcher.cancel(job), finished };
}
