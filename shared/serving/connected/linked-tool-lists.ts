import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ToolInfo } from '#shared/broker/contract/announcement.ts';
import { toolSchema } from '#shared/broker/contract/announced-tool.ts';
import { contentName } from '#shared/broker/contract/server-content.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import { errorTable, RouterError } from '#shared/core/errors.ts';
import { assignValidNames, createToolPrefix } from '#shared/core/valid-names.ts';
import { pickOrigin, type Caller } from '../caller.ts';
import { ToolReply } from '../tool-reply.ts';
import type { ToolRequest } from './personal-tools.ts';

/** Milliseconds for which the list of a server's tools for a person is cached. */
const cacheMs = 60_000;
/** Milliseconds for which lists of tools leave a server out after it failed to list its tools. */
const failureCacheMs = 10_000;
const cacheBytes = 64 * 1024 * 1024;

/** An MCP server that each person links with an account of their own. */
export interface LinkableServer {
  name: string;
  url: string;
}

const listSchema = z.object({ tools: z.array(z.unknown()) });

/** A tool as its server lists it. The tool's name in the router consists of the server's name and this name. */
const listedToolSchema = toolSchema
  .omit({ givenName: true, server: true, passes: true })
  .extend({ name: z.string(), description: z.string().default('') });

/** A tool under its name in the router, with its name at its MCP server. */
export interface LinkedTool {
  tool: ToolInfo;
  nameAtServer: string;
}

/** A person's link to an MCP server. */
export interface AccountLink {
  person: string;
  server: LinkableServer;
  /** Changes when the person links the server again. */
  version: string;
}

/** Asks a server for its tools with the token of the caller's person, and passes the answer to the sink. */
export type AskForTools = (
  server: LinkableServer,
  request: ToolRequest,
  sink: JobSink,
  caller: Caller,
) => Promise<unknown>;

/** The lists of tools that MCP servers have for people. A list is cached for a minute. */
export class LinkedToolLists {
  readonly #askForTools: AskForTools;
  /** The tools that servers have for people, by person, server and version of the link. */
  readonly #cachedLists = new LRUCache<string, readonly LinkedTool[]>({
    maxSize: cacheBytes,
    sizeCalculation: (tools) => JSON.stringify(tools).length + 1,
    ttl: cacheMs,
  });
  /** Keys do not share a running or failed listing, because a listing is a job of the key, and the key's limits may refuse it. */
  readonly #runningLists = new Map<string, Promise<readonly LinkedTool[]>>();

  /** Servers that have just failed to list their tools, by the keys of `#runningLists`. */
  readonly #failedServers = new LRUCache<string, true>({ max: 10_000, ttl: failureCacheMs });

  constructor(askForTools: AskForTools) {
    this.#askForTools = askForTools;
  }

  /**
   * Returns the tools that a server has for a person. Concurrent callers with one key share one listing.
   * @throws RouterError with the status 429 only if a limit of the key refuses to ask the server; `upstream_failed` if the server refuses to
   * answer because of a limit of its own
   */
  find(link: AccountLink, caller: Caller): Promise<readonly LinkedTool[]> {
    const cacheKey = toCacheKey(link);
    const cachedTools = this.#cachedLists.get(cacheKey);
    if (cachedTools) return Promise.resolve(cachedTools);
    const listingKey = toListingKey(link, caller);
    let running = this.#runningLists.get(listingKey);
    if (!running) {
      running = this.#listTools(link.server, caller)
        .then((tools) => {
          this.#cachedLists.set(cacheKey, tools);
          // A listing that its caller did not wait for may have succeeded all the same.
          this.#failedServers.delete(listingKey);
          return tools;
        })
        .finally(() => this.#runningLists.delete(listingKey));
      this.#runningLists.set(listingKey, running);
    }
    return running;
  }

  /** Whether the server has just failed to list its tools for the caller. */
  hasFailed(link: AccountLink, caller: Caller): boolean {
    return this.#failedServers.has(toListingKey(link, caller));
  }

  noteFailure(link: AccountLink, caller: Caller): void {
    this.#failedServers.set(toListingKey(link, caller), true);
  }

  async #listTools(server: LinkableServer, caller: Caller): Promise<readonly LinkedTool[]> {
    const tool = contentName(server.name);
    const body = Buffer.from(JSON.stringify({ tool, input: {} }));
    const reply = new ToolReply(undefined);
    const listCaller: Caller = { ...pickOrigin(caller), isGone: () => false };
    await this.#askForTools(server, { tool, body, stream: false }, reply, listCaller);
    const { structured_content: content, content: contentBlocks } = await reply.result.catch((error: unknown) => {
      if (!(error instanceof RouterError && isLimitError(error))) throw error;
      throw createListError(server, error.message, error);
    });
    const parsed = listSchema.safeParse(content);
    // A tool that MCP clients do not accept is left out, because they would refuse the whole list.
    const tools = parsed.data?.tools.flatMap((tool) => listedToolSchema.safeParse(tool).data ?? []);
    if (tools) return nameTools(server.name, tools);
    const [{ text = '' } = {}] = contentBlocks as { text?: string }[];
    throw createListError(server, text);
  }
}

function createListError({ name }: LinkableServer, reason: string, cause?: RouterError): RouterError {
  return new RouterError('upstream_failed', `The MCP server '${name}' does not list its tools. ${reason}`.trim(), {
    cause,
  });
}

function nameTools(server: string, tools: readonly z.output<typeof listedToolSchema>[]): LinkedTool[] {
  const byName = new Map(tools.map((tool) => [`${createToolPrefix(server)}${tool.name}`, tool]));
  const validNames = assignValidNames([...byName.keys()]);
  return [...byName].map(([givenName, tool]): LinkedTool => {
    const name = validNames.get(givenName) ?? givenName;
    return { nameAtServer: tool.name, tool: { ...tool, name, server, ...(name !== givenName && { givenName }) } };
  });
}

function toCacheKey({ person, server: { name, url }, version }: AccountLink): string {
  return JSON.stringify([person, name, url, version]);
}

function toListingKey(link: AccountLink, { identity: { id } }: Caller): string {
  return JSON.stringify([toCacheKey(link), id]);
}

/** Whether a limit of the key or its owner refuses a request. */
export function isLimitError({ code }: RouterError): boolean {
  return errorTable[code].status === 429;
}
