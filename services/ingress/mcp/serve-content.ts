import type { Response } from 'express';
import {
  ProtocolError,
  ProtocolErrorCode,
  type CompleteResult,
  type GetPromptResult,
  type ReadResourceResult,
  type Server,
} from '@modelcontextprotocol/server';
import type { ContentMethod } from '#shared/broker/contract/server-content.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { askInTurn } from './ask-in-turn.ts';
import type { McpToolParts } from './call-tool.ts';
import { joinLists, type ContentEntries, type SizedEntry } from './content-entries.ts';
import type { ContentLists } from './content-lists.ts';
import { ContentServers } from './content-servers.ts';
import { namePrompts, type ServerPrompt } from './name-prompts.ts';

/**
 * Adds request handlers for the resources, prompts and completions of all MCP servers with content that the key may use. Each request to a
 * server is a job of its own, like a tool call. A list contains the entries of the servers that answer in time.
 */
export function serveContent(server: Server, parts: McpToolParts, lists: ContentLists, response: Response): void {
  const servers = new ContentServers(parts, lists, response);

  server.setRequestHandler('resources/list', async (_, { mcpReq: { signal } }) => ({
    resources: await listEntries('resources', signal),
  }));
  server.setRequestHandler('resources/templates/list', async (_, { mcpReq: { signal } }) => ({
    resourceTemplates: await listEntries('resourceTemplates', signal),
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const candidates = await servers.findByAddress(uri, await servers.listServers('resources'), signal);
    const result = await askServers(candidates, 'resources/read', { uri }, signal);
    if (!result) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown resource: ${uri}`);
    return result as unknown as ReadResourceResult;
  });
  server.setRequestHandler('prompts/list', async (_, { mcpReq: { signal } }) => ({
    prompts: (await listPrompts(signal)).map(({ prompt }) => prompt),
  }));
  server.setRequestHandler('prompts/get', async ({ params }, { mcpReq: { signal } }) => {
    const { server: promptServer, ownName } = await findPrompt(params.name, signal);
    const input = { name: ownName, ...(params.arguments && { arguments: params.arguments }) };
    return (await servers.ask(promptServer.name, 'prompts/get', input, signal)) as unknown as GetPromptResult;
  });
  server.setRequestHandler('completion/complete', async ({ params }, { mcpReq: { signal } }) => {
    const { ref, argument, context } = params;
    const otherParams = {
      argument: { ...argument },
      ...(context?.arguments && { context: { arguments: context.arguments } }),
    };
    const completionServers = await servers.listServers('completions');
    let target: JsonObject = { ...ref };
    let candidates: string[];
    if (ref.type === 'ref/prompt') {
      const { server: promptServer, ownName } = await findPrompt(ref.name, signal);
      target = { type: ref.type, name: ownName };
      candidates = completionServers.map(({ name }) => name).filter((name) => name === promptServer.name);
    } else candidates = await servers.findByAddress(ref.uri, completionServers, signal);
    const result = await askServers(candidates, 'completion/complete', { ref: target, ...otherParams }, signal);
    return (result ?? { completion: { values: [] } }) as unknown as CompleteResult;
  });

  async function listEntries<List extends 'resources' | 'resourceTemplates'>(
    list: List,
    signal: AbortSignal,
  ): Promise<ContentEntries[List][]> {
    const answers = await servers.listAll(list, signal);
    return joinLists(answers.map(({ entries }) => entries)).map(({ entry }) => entry);
  }

  /**
   * Returns the first answer of a server, see `askInTurn`; undefined if there are no servers.
   * @throws the error of the first server if none answers
   */
  function askServers(
    names: readonly string[],
    method: ContentMethod,
    params: JsonObject,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    return askInTurn(names, (name, callSignal) => servers.ask(name, method, params, callSignal), signal);
  }

  async function listPrompts(signal: AbortSignal): Promise<ServerPrompt[]> {
    const answers = await servers.listAll('prompts', signal);
    const sizedPrompts = joinLists(
      answers.map(({ server: promptServer, entries }) =>
        entries.map(({ entry: prompt, bytes }): SizedEntry<ServerPrompt> => {
          const entry = { server: promptServer, ownName: prompt.name, prompt };
          return { entry, bytes };
        }),
      ),
    );
    return namePrompts(sizedPrompts.map(({ entry }) => entry));
  }

  async function findPrompt(name: string, signal: AbortSignal): Promise<ServerPrompt> {
    const found = (await listPrompts(signal)).find(({ prompt }) => prompt.name === name);
    if (!found) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`);
    return found;
  }
}
