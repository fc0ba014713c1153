import type { Response } from 'express';
import type { JobSink } from '#shared/broker/dispatch/job.ts';
import { RouterError } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';
import { admit, nothing } from '../limits/admit.ts';
import { chooseToolLanes } from '#shared/serving/choose-tool-lanes.ts';
import { requireToolsTier } from '#shared/serving/key-permits.ts';
import { requestIdOf } from '../http/request-id.ts';
import { identityOf } from '../http/require-key.ts';
import type { ServeParts } from '../routing/serve.ts';
import { traceOf } from '../http/trace-request.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';

const operation = 'execute_tool';

export type ToolParts = Pick<ServeParts, 'dispatcher' | 'workers' | 'limits' | 'record'>;

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
 * @returns undefined when the client has gone meanwhile
 * @throws RouterError `not_found` for a tool that no worker has ever had, `permission_denied`, or when a limit is in the way
 */
export async function dispatchTool(
  parts: ToolParts,
  request: ToolRequest,
  sink: JobSink,
): Promise<ToolJob | undefined> {
  const { dispatcher, workers, limits, record } = parts;
  const { tool, body, stream, response } = request;
  requireToolsTier(identityOf(response));
  if (!workers.isKnownTool(tool)) {
    const message = `The tool '${tool}' does not exist, or no worker has ever had it here.`;
    throw new RouterError('not_found', message, { param: 'tool' });
  }
  const reservation = await admit(response, toolsFormat, limits, () => nothing);
  if (response.destroyed) return undefined;
  const job = dispatcher.dispatch(
    {
      requestId: requestIdOf(response),
      operation,
      format: 'tools',
      stream,
      trace: traceOf(response),
      class: identityOf(response).class,
      place: (avoid) => chooseToolLanes(tool, workers.pools(), avoid),
      tiers: () => ['tools'],
    },
    body,
    sink,
  );
  const finished = job.finished.then((report) =>
    record({ response, format: toolsFormat, operation, asked: tool, report, usage: noUsage, reservation }),
  );
  return { cancel: () => dispatcher.cancel(job), finished };
}
