import type { ToolRequest } from './connected/personal-tools.ts';
import { hash } from 'node:crypto';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';
import { RouterError } from '#shared/core/errors.ts';
import { noUsage } from '#shared/core/usage.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';
import { hasToolName } from '#shared/broker/contract/announcement.ts';
import { requireToolsTier } from './key-permits.ts';
import { isToolDenied, createToolDeniedError, readToolPermits, type ToolPermits } from './tool-permits.ts';
import { type Caller, getQueueSender } from './caller.ts';
import { zeroAmount, reserve } from './reserve.ts';
import { runJob, type RunningRequest } from './run-job.ts';
import type { ServingComponents } from './serve-model.ts';
import { countFreeSlots, hasWorkerBesides, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';

export type ToolComponents = Pick<
  ServingComponents,
  'dispatcher' | 'workers' | 'limits' | 'record' | 'personalTools' | 'noWorkerMs'
>;

/**
 * Serves one tool call: checks the key's permits, chooses lanes, reserves, dispatches the job and records the request.
 * @returns the running call; undefined if the caller has left
 * @throws RouterError `not_found` for a tool that no worker has announced, `permission_denied`, `connection_required` for a tool of an MCP
 * server that the caller's person has not linked, or an error of `reserve`
 */
export async function serveTool(
  parts: ToolComponents,
  request: ToolRequest,
  sink: JobSink,
  caller: Caller,
): Promise<RunningRequest | undefined> {
  const { workers, personalTools } = parts;
  const { tool } = request;
  const { identity } = caller;
  requireToolsTier(identity);
  const serveCall = await personalTools?.find(tool, caller);
  if (serveCall) return serveCall(request, sink, caller);
  const permits = readToolPermits(identity);
  if (isToolDenied(permits, tool, workers.pools())) throw createToolDeniedError(tool);
  if (!workers.isKnownTool(tool)) {
    const message = `The tool '${tool}' does not exist, or no worker has announced it yet.`;
    throw new RouterError('not_found', message, { param: 'tool' });
  }
  const findPlacements: JobRequest['findPlacements'] = (avoid) =>
    chooseToolLanes(tool, workers.pools(), avoid, permits);
  return runToolJob(parts, { ...request, findPlacements }, sink, caller);
}

export interface ToolJob extends ToolRequest, Pick<JobRequest, 'findPlacements' | 'connection'> {}

/**
 * Reserves, dispatches and records one tool call.
 * @throws RouterError of `reserve`
 */
export async function runToolJob(
  { dispatcher, limits, record }: ToolComponents,
  { tool, body, stream, findPlacements, connection }: ToolJob,
  sink: JobSink,
  caller: Caller,
): Promise<RunningRequest | undefined> {
  const { requestId, identity, trace } = caller;
  const reservation = identity.limits.length === 0 ? undefined : await reserve(limits, caller, zeroAmount);
  const operation = 'execute_tool';
  const sender = getQueueSender(identity);
  const { name: format } = toolsFormat;
  const job: JobRequest = {
    requestId,
    operation,
    format,
    stream,
    trace,
    class: identity.class,
    sender,
    ownerMark: hash('sha256', sender.owner, 'base64url'),
    findPlacements,
    connection,
    tiers: () => ['tools'],
  };
  return runJob(dispatcher, job, body, sink, caller, reservation, (report, reserved) =>
    record({
      origin: caller,
      format,
      operation,
      asked: tool,
      purpose: undefined,
      report,
      usage: noUsage,
      reservation: reserved,
    }),
  );
}

/**
 * Returns the pools that have a permitted tool of this name now, in descending order of free slots. The `model` of a placement is the
 * tool's name in the pool.
 */
export function chooseToolLanes(
  calledName: string,
  pools: Iterable<LivePool>,
  avoid: ReadonlySet<string>,
  { allows }: Pick<ToolPermits, 'allows'>,
): Placement[] {
  return [...pools]
    .filter(({ tier, formats }) => tier === 'tools' && formats.includes('tools'))
    .flatMap((pool) => {
      const tool = hasWorkerBesides(pool, avoid)
        ? pool.tools.find((each) => hasToolName(each, calledName) && allows(each))
        : undefined;
      return tool ? [{ pool, model: tool.name }] : [];
    })
    .sort((a, b) => countFreeSlots(b.pool, b.model) - countFreeSlots(a.pool, a.model));
}
