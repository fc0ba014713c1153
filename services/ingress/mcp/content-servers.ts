import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { contentName, type ContentKind, type ContentMethod } from '#shared/broker/contract/server-content.ts';
import { hasWorkerBesides, noWorkers } from '#shared/broker/dispatch/workers/live-pool.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { readToolPermits } from '#shared/serving/tool-permits.ts';
import { waitForTools } from '#shared/serving/wait-for-tools.ts';
import { getRequestContext } from '../http/request-context.ts';
import { runTool, type McpCall, type McpToolParts } from './call-tool.ts';
import { listRequests, type ContentEntries, type ContentList, type SizedEntry } from './content-entries.ts';
import type { ContentLists } from './content-lists.ts';
import { findContentServers, listsAddress, type ListedAddresses } from './find-content-servers.ts';
import { throwProtocolError } from './throw-protocol-error.ts';

/** Milliseconds after which a list is sent without the entries of servers that have not answered. */
const listMs = 10_000;
/** Milliseconds to wait for lists before an address is looked up in the lists that have arrived. */
const findMs = 2_000;
/** Maximum bytes of a server's answer to a request for a list. Reading this many bytes blocks the process for about 30 ms. */
const maxAnswerBytes = 2 * 1024 * 1024;

const methodNotFound: number = ProtocolErrorCode.MethodNotFound;

/** An MCP server whose content a key may use. */
export interface ContentServer {
  name: string;
  /** Whether a trusted worker has announced it, see `CredentialToolRules`. */
  isTrusted: boolean;
}

/** A list of a server. */
interface ServerList<List extends ContentList> {
  server: ContentServer;
  entries: readonly SizedEntry<ContentEntries[List]>[];
}

/** Finds the MCP servers with content that a request may use, and sends requests to them. Each request to a server is a job of its own. */
export class ContentServers {
  readonly #parts: McpToolParts;
  readonly #lists: ContentLists;
  readonly #response: Response;

  constructor(parts: McpToolParts, lists: ContentLists, response: Response) {
    this.#parts = parts;
    this.#lists = lists;
    this.#response = response;
  }

  /**
   * Returns the servers with content of this kind that the key may use. Trusted servers come first, because a worker with any other
   * credential may list whatever it likes. Servers of equal trust are sorted by name.
   * @throws ProtocolError if no worker that has the tools connects in time
   */
  async listServers(kind: ContentKind): Promise<ContentServer[]> {
    const context = getRequestContext(this.#response);
    await waitForTools(this.#parts, context).catch(throwProtocolError);
    const permits = readToolPermits(context.identity);
    const { workers } = this.#parts;
    const servers = new Map<string, ContentServer>();
    for (const pool of workers.pools()) {
      if (pool.tier !== 'tools' || !hasWorkerBesides(pool, noWorkers)) continue;
      const isTrusted = [...pool.workers].some((worker) => workers.hasTrustedTools(worker));
      for (const tool of pool.tools) {
        const { server: name, passes } = tool;
        if (name === undefined || passes?.includes(kind) !== true || !permits.allows(tool)) continue;
        servers.set(name, { name, isTrusted: isTrusted || servers.get(name)?.isTrusted === true });
      }
    }
    return [...servers.values()].sort(
      (a, b) => Number(b.isTrusted) - Number(a.isTrusted) || (a.name < b.name ? -1 : 1),
    );
  }

  /** @throws ProtocolError with the error of the server, or if the server cannot be reached */
  ask(server: string, method: ContentMethod, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    return this.#run({ tool: contentName(server), input: { method, params }, signal });
  }

  /**
   * Returns the lists of all servers that answer in time.
   * @throws the first error if there are servers, but none answers
   */
  async listAll<List extends ContentList>(list: List, signal: AbortSignal): Promise<ServerList<List>[]> {
    const servers = await this.listServers(listRequests[list].kind);
    const outcomes = await Promise.allSettled(
      servers.map(async (server) => ({ server, entries: await this.#list(server.name, list) })),
    );
    signal.throwIfAborted();
    const lists = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    const [failure] = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome] : []));
    if (lists.length > 0 || !failure) return lists;
    throw failure.reason;
  }

  /** Returns the names of the servers that may have an address, see `findContentServers`. */
  async findByAddress(uri: string, servers: readonly ContentServer[], signal: AbortSignal): Promise<string[]> {
    const listedAddresses = servers.map(({ name }): ListedAddresses => ({
      server: name,
      resources: [],
      templates: [],
    }));
    const found = Promise.withResolvers<void>();
    const lists = listedAddresses.flatMap((addresses) => [
      this.#list(addresses.server, 'resources').then((entries) => {
        addresses.resources = entries.map(({ entry }) => entry.uri);
        if (listsAddress(addresses, uri)) found.resolve();
      }),
      this.#list(addresses.server, 'resourceTemplates').then((entries) => {
        addresses.templates = entries.map(({ entry }) => entry.uriTemplate);
        if (listsAddress(addresses, uri)) found.resolve();
      }),
    ]);
    const waiting = new AbortController();
    const timeLimit = sleep(findMs, undefined, { signal: AbortSignal.any([signal, waiting.signal]) });
    // A server may have the address even if it has not sent its lists.
    await Promise.race([found.promise, Promise.allSettled(lists), timeLimit.catch(() => undefined)]);
    waiting.abort();
    signal.throwIfAborted();
    return findContentServers(uri, listedAddresses);
  }

  #list<List extends ContentList>(server: string, list: List): Promise<ServerList<List>['entries']> {
    const { method } = listRequests[list];
    const { id } = getRequestContext(this.#response).identity;
    return this.#lists.get(server, list, id, async () => {
      const signal = AbortSignal.timeout(listMs);
      const input = { method, params: {} };
      const call = { tool: contentName(server), input, signal, isShared: true, maxBytes: maxAnswerBytes } as const;
      return this.#run(call).catch((error: unknown) => {
        // A server may have resources without templates.
        if (error instanceof ProtocolError && error.code === methodNotFound) return {};
        if (error !== signal.reason) throw error;
        const message = `The MCP server ${server} has not answered in time. Try again.`;
        throw new ProtocolError(ProtocolErrorCode.InternalError, message);
      });
    });
  }

  async #run(call: Omit<McpCall, 'response' | 'onProgress'>): Promise<JsonObject> {
    const { structured_content: content, ...answer } = await runTool(this.#parts, {
      ...call,
      onProgress: undefined,
      response: this.#response,
    }).catch(throwProtocolError);
    const { result } = content ?? {};
    if (isJsonObject(result)) return result;
    const [{ text = '' } = {}] = answer.content as { text?: string }[];
    const { code, message, data } = answer.error ?? { code: ProtocolErrorCode.InternalError, message: text };
    throw new ProtocolError(code, message, data);
  }
}
