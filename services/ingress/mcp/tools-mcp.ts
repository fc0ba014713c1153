import type { Request, Response } from 'express';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  Server,
  type McpHandlerRequestOptions,
  type McpRequestContext,
  type Tool,
} from '@modelcontextprotocol/server';
import type { JsonObject } from '#shared/core/json.ts';
import type { Logger } from '#shared/core/log.ts';
import { version } from '#shared/core/version.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { requireToolsTier } from '#shared/serving/key-permits.ts';
import { listAllTools, type ListedTool } from '#shared/serving/list-tools.ts';
import { getRequestContext } from '../http/request-context.ts';
import { waitForTools } from '#shared/serving/wait-for-tools.ts';
import { UnreadBody } from '../http/unread/unread-body.ts';
import type { UnreadOutputs } from '../http/unread/unread-outputs.ts';
import { callTool, type McpToolParts } from './call-tool.ts';
import { fitToolList } from './fit-tool-list.ts';
import { mcpFormat } from './mcp-format.ts';
import { throwProtocolError } from './throw-protocol-error.ts';
import { ContentLists } from './content-lists.ts';
import { LeftOutTools } from './left-out-tools.ts';
import { ListeningPlaces } from './listening-places.ts';
import { NoticeStreams } from './notice-streams.ts';
import { serveContent } from './serve-content.ts';
import { isMessage, RunningCalls } from './running-calls.ts';
import { ProgressReporter } from './progress-reporter.ts';

/** Milliseconds without a byte after which an open stream gets a comment. */
const keepAliveMs = 10_000;

export interface ToolsMcp {
  /**
   * Serves one HTTP request with a checked key.
   * @param body the parsed body; undefined if there is none
   * @throws RouterError `permission_denied` for a key that may not use tools
   */
  serve(request: Request, response: Response, body: unknown): Promise<void>;
  /**
   * Begins the stream of notices that a GET request asks for.
   * @returns false for a client that does not accept a stream
   * @throws RouterError `permission_denied` for a key that may not use tools
   */
  openNotices(request: Request, response: Response): boolean;
  /** Ends the streams that notify clients of changed tools, because they have no end of their own. */
  stopListening(): void;
  close(): Promise<void>;
}

/**
 * Creates an MCP server with the tools, resources and prompts of all connected workers. The server keeps no sessions, so that any node can
 * serve any request. Revision 2026-07-28 of the protocol has no sessions, and older revisions work without them.
 */
export function createToolsMcp(parts: McpToolParts, unread: UnreadOutputs, log: Logger): ToolsMcp {
  const { workers } = parts;
  const calls = new RunningCalls();
  const places = new ListeningPlaces();
  const contentLists = new ContentLists();
  const notices = new NoticeStreams(places, keepAliveMs);
  const leftOut = new LeftOutTools(log);
  const handler = createMcpHandler(createServer, {
    keepAliveMs,
    // `ListeningPlaces` bounds the number of subscriptions.
    maxSubscriptions: Number.POSITIVE_INFINITY,
    onerror: (error) => log.info({ err: error }, 'an MCP request is invalid'),
  });

  let knownPools = describeToolPools(workers.pools());
  workers.onChange(() => {
    const currentPools = describeToolPools(workers.pools());
    if (currentPools === knownPools) return;
    knownPools = currentPools;
    handler.notify.toolsChanged();
    notices.notifyToolsChanged();
  });

  function createServer({ authInfo }: McpRequestContext): Server {
    const response = authInfo?.extra?.['response'] as Response;
    const server = new Server(
      { name: 'model-router', version },
      { capabilities: { tools: { listChanged: true }, resources: {}, prompts: {}, completions: {} } },
    );
    serveContent(server, parts, contentLists, response);
    server.setRequestHandler('tools/list', async () => {
      const context = getRequestContext(response);
      await waitForTools(parts, context).catch(throwProtocolError);
      const tools = await listAllTools(parts, context);
      const fittingTools = fitToolList(tools);
      leftOut.add(tools, fittingTools);
      return { tools: fittingTools.map(toMcpTool) };
    });
    server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
      const { name: tool, arguments: input = {} } = params;
      const reporter = new ProgressReporter(mcpReq, log);
      return calls.run(response, mcpReq.id, async (cancelled) => {
        const signal = AbortSignal.any([mcpReq.signal, cancelled]);
        const onProgress = reporter.isWanted ? reporter.report : undefined;
        const result = await callTool(parts, { tool, input: input as JsonObject, signal, onProgress, response });
        await reporter.sent;
        return result;
      });
    });
    return server;
  }

  return {
    async serve(request, response, body) {
      const context = getRequestContext(response);
      requireToolsTier(context.identity);
      context.format = mcpFormat;
      calls.handleSession(request, response, body);
      if (isMessage(body, 'subscriptions/listen')) places.occupy(response);
      // The SDK gives `authInfo` to `createServer`, so the response is put into it.
      const authInfo = { token: '', clientId: '', scopes: [], extra: { response } };
      const fetch = async (
        webRequest: globalThis.Request,
        options?: McpHandlerRequestOptions,
      ): Promise<globalThis.Response> => {
        const answer = await withoutNullId(await handler.fetch(webRequest, { ...options, authInfo }));
        if (!answer.body) return answer;
        return new globalThis.Response(new UnreadBody(answer.body, response, unread).stream, answer);
      };
      await toNodeHandler({ fetch })(request, response, body);
    },
    openNotices(request, response) {
      requireToolsTier(getRequestContext(response).identity);
      const acceptsStream = request.get('accept')?.includes('text/event-stream') === true;
      if (acceptsStream) notices.open(response);
      return acceptsStream;
    },
    stopListening() {
      notices.close();
      places.endAll();
    },
    close: () => handler.close(),
  };
}

/** Removes `"id": null` from refusals that the SDK writes itself, because the schema of the protocol does not allow null. */
async function withoutNullId(answer: globalThis.Response): Promise<globalThis.Response> {
  if (answer.ok || answer.headers.get('content-type') !== 'application/json') return answer;
  const { id, ...body } = (await answer.json()) as JsonObject;
  return globalThis.Response.json(id === null ? body : { id, ...body }, answer);
}

function toMcpTool({ name, title, description, inputSchema, outputSchema, annotations }: ListedTool): Tool {
  return {
    name,
    description,
    // The input schema of every tool has the type `object`.
    inputSchema: inputSchema as { type: 'object' },
    ...(title !== undefined && { title }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  };
}

/** Returns a text that changes whenever the tools change. It contains the names of the pools, which are derived from their tools. */
function describeToolPools(pools: Iterable<LivePool>): string {
  return [...pools]
    .filter(({ tier }) => tier === 'tools')
    .map(({ pool }) => pool)
    .sort()
    .join();
}
