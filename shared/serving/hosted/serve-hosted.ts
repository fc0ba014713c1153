import { noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { ClientRequest } from '#shared/formats/client-format.ts';
import type { HostedRequest, RunnableTool } from '#shared/formats/hosted/hosted-request.ts';
import { pickOrigin, type Caller } from '../caller.ts';
import { chooseLanes } from '../choose-lanes.ts';
import { readKeyPermits } from '../key-permits.ts';
import type { ListedTool } from '../list-tools.ts';
import { prepareTurn, type PreparedRequest } from '../prepare-request.ts';
import type { RequestOptions } from '../request-options.ts';
import { resolveModel, resolveRequestedName, type ResolvedModel } from '../resolve-model.ts';
import type { RunningRequest } from '../run-job.ts';
import { serveModel, type ModelSink, type ServingComponents } from '../serve-model.ts';
import { waitForTools } from '../wait-for-tools.ts';
import { HostedLoop } from './hosted-loop.ts';
import { planHostedTools } from './plan-hosted.ts';
import { runHostedCall } from './run-hosted-call.ts';

/**
 * Serves a request with hosted tools. The router runs the tools that no upstream runs. Each turn of the model, and each call of a tool, is
 * then a separate job with its own reservation and its own record.
 * @returns the running request; undefined if the caller has left
 * @throws RouterError of `serveModel`, `planHostedTools` or, for tools of an MCP server, `waitForTools`
 */
export async function serveHosted(
  parts: ServingComponents,
  request: PreparedRequest,
  hosted: HostedRequest,
  options: RequestOptions,
  sink: ModelSink,
  caller: Caller,
): Promise<RunningRequest | undefined> {
  const { client, operation } = request;
  const registry = parts.registry();
  const name = resolveRequestedName(client.parameters, registry.models, parts.workers);
  const model = resolveModel(name, registry, options.sentFor);
  const hasMcpTools = hosted.tools.some(({ kind }) => kind === 'mcp');
  if (hasMcpTools) await waitForTools(parts, caller);
  const linkedTools = hasMcpTools ? await parts.personalTools?.list(caller) : undefined;
  const runnable = findRunnableTools(parts, request, hosted, model, caller, linkedTools);
  if (!runnable) return serveModel(parts, { ...request, model }, options, sink, caller);
  if (runnable.length === 0) return serveModel(parts, prepareTurn(request, model), options, sink, caller);
  const body = parseBody(client, model);
  if (operation === 'generate') {
    const answer = hosted.createAnswer(body, runnable);
    return beginHostedLoop(parts, request, answer, model, options, sink, caller);
  }
  const countedRequest = prepareTurn(request, model, hosted.withFunctions(body, runnable));
  return serveModel(parts, countedRequest, options, sink, caller);
}

function findRunnableTools(
  { workers, registry, priceOf }: ServingComponents,
  { client, operation, format: { name: format } }: PreparedRequest,
  hosted: HostedRequest,
  model: ResolvedModel,
  { identity }: Caller,
  linkedTools: readonly ListedTool[] = [],
): RunnableTool[] | undefined {
  const { auto, hosted_tools: settings } = registry();
  const pools = [...workers.pools()];
  const { needs } = client.parameters;
  const { allowsLane: permits } = readKeyPermits(identity);
  const choice = { model, needs, operation, format, auto, priceOf, permits };
  const placements = chooseLanes(choice, pools, noWorkers);
  return planHostedTools(hosted, { settings, pools, format, identity, model, placements, linkedTools });
}

function beginHostedLoop(
  parts: ServingComponents,
  request: PreparedRequest,
  answer: ReturnType<HostedRequest['createAnswer']>,
  model: ResolvedModel,
  options: RequestOptions,
  sink: ModelSink,
  caller: Caller,
): Promise<RunningRequest | undefined> {
  const { hosted_tools: settings } = parts.registry();
  const { requestId } = caller;
  const { format, client } = request;
  // The headers that report the limit status were sent with the first turn.
  const laterCaller: Caller = { ...pickOrigin(caller), isGone: () => caller.isGone() };
  // The client ran its own tools before the first turn.
  const laterOptions = { ...options, sentFor: removeTools(options.sentFor) };
  sink.keepBody?.();
  return HostedLoop.begin({
    answer,
    sink,
    stream: client.parameters.stream,
    createCounter: () => format.openStream({ requestId }),
    bounds: settings,
    askModel(body, turnSink, previous) {
      if (!previous) return serveModel(parts, prepareTurn(request, model, body), options, turnSink, caller);
      const turn = prepareTurn(request, preferModel(previous, model, parts), body);
      return serveModel(parts, turn, laterOptions, turnSink, laterCaller);
    },
    runCall(call, signal, onKeepAlive) {
      if (call.hosted.kind === 'mcp') caller.onEffects?.();
      return runHostedCall({ ...parts, settings }, call, laterCaller, signal, onKeepAlive);
    },
  });
}

function removeTools({ turn, ...sentFor }: RequestPurpose): RequestPurpose {
  return { ...sentFor, turn: turn && { ...turn, tools: undefined } };
}

/** Parses the request's body. The format has already checked the body. */
function parseBody({ withDefaults }: ClientRequest, model: ResolvedModel): JsonObject {
  return JSON.parse(withDefaults(model.kind === 'named' ? model.defaults : {}).toString()) as JsonObject;
}

/** Puts the model of the previous turn first if a worker still serves it, because the next turn continues the text of that model. */
function preferModel(
  { pool, model, rule }: Placement,
  resolved: ResolvedModel,
  { workers }: ServingComponents,
): ResolvedModel {
  const { tier } = pool;
  if (tier === 'tools') return resolved;
  const isServed = [...workers.pools()].some(
    (each) => each.tier === tier && each.models.some(({ id }) => id === model),
  );
  if (!isServed) return resolved;
  const others = resolved.kind === 'named' ? resolved.targets : [];
  return { kind: 'named', rule, targets: [{ model, tier }, ...others], isRegistered: true, defaults: {}, hedge: [] };
}
