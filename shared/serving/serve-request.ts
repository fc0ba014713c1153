import { noWorkers, type Placement } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import type { ClientFormat, ClientRequest } from '#shared/formats/client-format.ts';
import type { HostedRequest, RunnableTool } from '#shared/formats/hosted/hosted-request.ts';
import type { Caller } from './caller.ts';
import { chooseLanes } from './choose-lanes.ts';
import { HostedLoop } from './hosted/hosted-loop.ts';
import type { ListedTool } from './list-tools.ts';
import { planHostedTools } from './hosted/plan-hosted.ts';
import { runHostedCall } from './hosted/run-hosted-call.ts';
import { readKeyPermits } from './key-permits.ts';
import { resolveRequestedName } from './resolve-requested-name.ts';
import { resolveModel, type ResolvedModel } from './resolve-model.ts';
import type { RunningRequest } from './run-job.ts';
import { waitForTools } from './wait-for-tools.ts';
import { serveModel, type ModelRequest, type ModelSink, type ServingComponents } from './serve-model.ts';

/** A validated request, with a parser for further requests of its format and operation. */
export interface ServableRequest extends ModelRequest {
  read: (body: Buffer) => ClientRequest;
  /** See `ClientFormat.openStream`; for the turns of an answer with hosted tools. */
  openStream: ClientFormat['openStream'];
}

/**
 * Serves one request, independent of HTTP. The router runs those hosted tools of the request that no upstream runs. Each turn of the model,
 * and each call of a tool, is then a separate job with its own reservation and its own record.
 * @returns the running request; undefined if the caller has left
 * @throws RouterError as `serveModel`, `planHostedTools` and, for tools of an MCP server, `waitForTools` do
 */
export async function serveRequest(
  parts: ServingComponents,
  request: ServableRequest,
  sink: ModelSink,
  caller: Caller,
): Promise<RunningRequest | undefined> {
  const { hosted, operation, read } = request;
  if (!hosted) return serveModel(parts, request, sink, caller);
  const registry = parts.registry();
  const name = resolveRequestedName(request.parameters, registry.models, parts.workers);
  const model = resolveModel(name, registry, request.sentFor);
  const wantsMcp = hosted.tools.some(({ kind }) => kind === 'mcp');
  if (wantsMcp) await waitForTools(parts, caller);
  const linkedTools = wantsMcp ? await parts.personalTools?.list(caller) : undefined;
  const runnable = findRunnableTools(parts, { ...request, hosted }, model, caller, linkedTools);
  if (!runnable) return serveModel(parts, { ...request, resolved: model }, sink, caller);
  if (runnable.length === 0) return serveModel(parts, { ...withoutHostedNeed(request), resolved: model }, sink, caller);
  if (operation === 'generate') return beginHostedLoop(parts, { ...request, hosted }, runnable, model, sink, caller);
  const countRequest = {
    ...request,
    ...read(hosted.withFunctions(parseBody(request, model), runnable)),
    resolved: model,
  };
  return serveModel(parts, withoutHostedNeed(countRequest), sink, caller);
}

function findRunnableTools(
  { workers, registry, priceOf }: ServingComponents,
  { hosted, parameters: { needs }, operation, format }: ModelRequest & { hosted: HostedRequest },
  model: ResolvedModel,
  { identity }: Caller,
  linkedTools: readonly ListedTool[] = [],
): RunnableTool[] | undefined {
  const { auto, hosted_tools: hostedTools } = registry();
  const pools = [...workers.pools()];
  const rules = { auto, priceOf, permits: readKeyPermits(identity).allowsLane };
  const placements = chooseLanes({ model, needs, operation, format }, rules, pools, noWorkers);
  return planHostedTools(hosted, {
    settings: hostedTools,
    pools,
    format,
    identity,
    model,
    placements,
    linkedTools,
  });
}

function beginHostedLoop(
  parts: ServingComponents,
  request: ServableRequest & { hosted: HostedRequest },
  runnable: readonly RunnableTool[],
  model: ResolvedModel,
  sink: ModelSink,
  caller: Caller,
): Promise<RunningRequest | undefined> {
  const { hosted_tools: settings } = parts.registry();
  const { requestId, identity, trace } = caller;
  // The headers that report the limit status were sent with the first turn.
  const laterCaller: Caller = {
    requestId,
    identity,
    trace,
    onLimitStatus: () => undefined,
    isGone: () => caller.isGone(),
  };
  sink.keepBody?.();
  return HostedLoop.begin({
    answer: request.hosted.createAnswer(parseBody(request, model), runnable),
    sink,
    stream: request.parameters.stream,
    createCounter: () => request.openStream({ requestId }),
    bounds: settings,
    ask(body, turnSink, previous) {
      const resolved = previous ? preferModel(previous, model, parts) : model;
      // The client's own tools ran before the first turn.
      const sentFor = previous ? withoutTools(request.sentFor) : request.sentFor;
      const turn = { ...request, ...request.read(body), sentFor, resolved };
      return serveModel(parts, withoutHostedNeed(turn), turnSink, previous ? laterCaller : caller);
    },
    call(call, signal, onKeepAlive) {
      if (call.hosted.kind === 'mcp') caller.onEffects?.();
      return runHostedCall({ ...parts, settings }, call, laterCaller, signal, onKeepAlive);
    },
  });
}

/**
 * Removes the need for hosted tools, so that upstreams that run none of them can serve the request. Hosted tools that the router does not
 * run either are optional for the request.
 */
function withoutHostedNeed(request: ModelRequest): ModelRequest {
  const { parameters } = request;
  return { ...request, parameters: { ...parameters, needs: { ...parameters.needs, hosted: undefined } } };
}

function withoutTools({ turn, ...sentFor }: RequestPurpose): RequestPurpose {
  return { ...sentFor, turn: turn && { ...turn, tools: undefined } };
}

/** Parses the request's body, which its format has validated. */
function parseBody({ withDefaults }: ModelRequest, model: ResolvedModel): JsonObject {
  return JSON.parse(withDefaults(model.kind === 'named' ? model.defaults : {}).toString()) as JsonObject;
}

/** Puts the model of the previous turn first as long as a worker serves it, because the next turn continues the text of that model. */
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
