import type { Response } from 'express';
import {
  ProtocolError,
  ProtocolErrorCode,
  type CompleteResult,
  type GetPromptResult,
  type Prompt,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
  type Server,
} from '@modelcontextprotocol/server';
import { contentName, type ContentKind, type ContentMethod } from '#shared/broker/contract/server-content.ts';
import { hasWorkerBesides, noWorkers } from '#shared/broker/dispatch/workers/live-pool.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { readToolPermits } from '#shared/serving/tool-permits.ts';
import { waitForTools } from '#shared/serving/wait-for-tools.ts';
import { contextOf } from '../http/request-context.ts';
import { askInTurn } from './ask-in-turn.ts';
import { throwProtocolError } from './throw-protocol-error.ts';
import { runTool, type McpToolParts } from './call-tool.ts';

/** Milliseconds after which a list is sent without the entries of servers that have not answered. */
const listMs = 10_000;

/** A prompt, with the server that has it, and the prompt's name on that server. */
interface ServerPrompt {
  server: string;
  ownName: string;
  prompt: Prompt;
}

/**
 * Adds the resources, prompts and completions of all MCP servers whose content the key may use. Each request to a server is a job of its
 * own, like a tool call. Lists contain the answers of those servers that can be reached now.
 */
export function serveContent(server: Server, parts: McpToolParts, response: Response): void {
  const context = contextOf(response);
  server.setRequestHandler('resources/list', async (_, { mcpReq: { signal } }) => ({
    resources: await listEntries<Resource>('resources', 'resources/list', 'resources', signal),
  }));
  server.setRequestHandler('resources/templates/list', async (_, { mcpReq: { signal } }) => ({
    resourceTemplates: await listEntries<ResourceTemplateType>(
      'resources',
      'resources/templates/list',
      'resourceTemplates',
      signal,
    ),
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const result = await firstOf(await serversWith('resources'), 'resources/read', { uri }, signal);
    if (!result) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource: ${uri}`);
    return result as unknown as ReadResourceResult;
  });
  server.setRequestHandler('prompts/list', async (_, { mcpReq: { signal } }) => ({
    prompts: (await listPrompts(signal)).map(({ prompt }) => prompt),
  }));
  server.setRequestHandler('prompts/get', async ({ params }, { mcpReq: { signal } }) => {
    const { server: promptServer, ownName } = await findPrompt(params.name, signal);
    const args = params.arguments && { arguments: params.arguments };
    return (await ask(promptServer, 'prompts/get', { name: ownName, ...args }, signal)) as unknown as GetPromptResult;
  });
  server.setRequestHandler('completion/complete', async ({ params }, { mcpReq: { signal } }) => {
    const { ref, argument, context } = params;
    const further = {
      argument: { ...argument },
      ...(context?.arguments && { context: { arguments: context.arguments } }),
    };
    const namedPrompt = ref.type === 'ref/prompt' ? await findPrompt(ref.name, signal) : undefined;
    const target = ref.type === 'ref/prompt' ? { type: ref.type, name: namedPrompt?.ownName ?? ref.name } : { ...ref };
    const capableServers = (await serversWith('completions')).filter(
      (name) => !namedPrompt || name === namedPrompt.server,
    );
    const result = await firstOf(capableServers, 'completion/complete', { ref: target, ...further }, signal);
    return (result ?? { completion: { values: [] } }) as unknown as CompleteResult;
  });

  /**
   * Returns the servers whose content of this kind the key may use, sorted by name.
   * @throws ProtocolError if no worker that has the tools connects in time
   */
  async function serversWith(kind: ContentKind): Promise<string[]> {
    await waitForTools(parts, context).catch(throwProtocolError);
    const permits = readToolPermits(context.identity);
    const names = [...parts.workers.pools()]
      .filter((pool) => pool.tier === 'tools' && hasWorkerBesides(pool, noWorkers))
      .flatMap(({ tools }) => tools.filter((tool) => tool.passes?.includes(kind) && permits.allows(tool)))
      .flatMap((tool) => tool.server ?? []);
    return [...new Set(names)].sort();
  }

  /** @throws ProtocolError with the error of the server, or because the server cannot be reached */
  async function ask(
    server: string,
    method: ContentMethod,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const call = { tool: contentName(server), input: { method, params }, signal, onProgress: undefined, response };
    const answer = await runTool(parts, call).catch(throwProtocolError);
    const { result } = answer.structured_content ?? {};
    if (isJsonObject(result)) return result;
    const [{ text = '' } = {}] = answer.content as { text?: string }[];
    const { code, message, data } = answer.error ?? { code: ProtocolErrorCode.InternalError, message: text };
    throw new ProtocolError(code, message, data);
  }

  /**
   * Returns the answers of all servers that answer in time.
   * @throws the first error if there are servers, but none answers
   */
  async function askAll(
    kind: ContentKind,
    method: ContentMethod,
    signal: AbortSignal,
  ): Promise<[string, JsonObject][]> {
    const servers = await serversWith(kind);
    const timeout = AbortSignal.timeout(listMs);
    const until = AbortSignal.any([signal, timeout]);
    const outcomes = await Promise.allSettled(servers.map((name) => ask(name, method, {}, until)));
    const answers = outcomes.flatMap((outcome, at): [string, JsonObject][] =>
      outcome.status === 'fulfilled' ? [[servers[at] ?? '', outcome.value]] : [],
    );
    const [failure] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome] : []));
    if (answers.length > 0 || !failure) return answers;
    if (failure.reason !== timeout.reason) throw failure.reason;
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'No MCP server has answered in time. Try again.');
  }

  async function listEntries<T>(
    kind: ContentKind,
    method: ContentMethod,
    field: string,
    signal: AbortSignal,
  ): Promise<T[]> {
    const answers = await askAll(kind, method, signal);
    // Entries are sent on unchanged, as their server sent them.
    return answers.flatMap(([, answer]) => (answer[field] ?? []) as unknown as T[]);
  }

  /**
   * Returns the first answer of a server, see `askInTurn`; undefined if there are no servers.
   * @throws the error of the first server if none answers
   */
  function firstOf(
    servers: readonly string[],
    method: ContentMethod,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    return askInTurn(servers, (name, until) => ask(name, method, params, until), signal);
  }

  /** Returns all prompts. As with tools, a name that several servers use gets the name of its server as a prefix. */
  async function listPrompts(signal: AbortSignal): Promise<ServerPrompt[]> {
    const all = (await askAll('prompts', 'prompts/list', signal)).flatMap(([server, { prompts = [] }]) =>
      (prompts as unknown as Prompt[]).map((prompt) => ({ server, prompt })),
    );
    const promptsByName = Map.groupBy(all, ({ prompt }) => prompt.name);
    return all.map(({ server, prompt }) => {
      const isShared = (promptsByName.get(prompt.name)?.length ?? 0) > 1;
      const name = isShared ? `${server.replaceAll(/[^\w-]/g, '-')}_${prompt.name}` : prompt.name;
      return { server, ownName: prompt.name, prompt: { ...prompt, name } };
    });
  }

  async function findPrompt(name: string, signal: AbortSignal): Promise<ServerPrompt> {
    const found = (await listPrompts(signal)).find(({ prompt }) => prompt.name === name);
    if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
    return found;
  }
}
