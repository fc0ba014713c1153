import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { hasToolName, type ToolInfo } from '#shared/broker/contract/announcement.ts';
import { contentName } from '#shared/broker/contract/server-content.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import {
  countFreeSlots,
  hasWorkerBesides,
  noWorkers,
  type LivePool,
  type Placement,
} from '#shared/broker/dispatch/workers/live-pool.ts';
import { RouterError } from '#shared/core/errors.ts';
import { assignValidNames } from '#shared/core/valid-names.ts';
import type { Caller } from '../caller.ts';
import type { ListedTool } from '../list-tools.ts';
import type { RunningRequest } from '../run-job.ts';
import { runToolJob, type ToolComponents } from '../serve-tool.ts';
import { toolDenied, readToolPermits } from '../tool-permits.ts';
import { ToolReply } from '../tool-reply.ts';
import type { ToolRequest } from '../tool-request.ts';
import type { PersonalTools, ServeCall } from './personal-tools.ts';
import { TokenRetry } from './token-retry.ts';

/** Milliseconds for which a server's tools for a person are cached. */
const keptMs = 60_000;
/** Milliseconds for which lists of tools leave a server out after it failed to list its tools. */
const keptFailureMs = 10_000;

const keptBytes = 64 * 1024 * 1024;

/** An MCP server for which each person has an account link of their own. */
export interface LinkableServer {
  name: string;
  url: string;
}

export interface PersonConnections {
  servers(): readonly LinkableServer[];
  /** Returns a text for each MCP server that the person has linked now; the text changes when they link it again. */
  versionsOf(person: string): Promise<ReadonlyMap<string, string>>;
  /**
   * @param refused a token that the server has just refused
   * @throws RouterError `connection_required`, `upstream_failed`
   */
  tokenOf(person: string, server: LinkableServer, refused?: string): Promise<string>;
  /** Builds the error for a caller who cannot call a tool without a link to its MCP server. */
  required(server: string, why: 'no person' | 'none' | 'expired'): RouterError;
}

/** A call of a server's tool; if `ownName` is undefined, a request for the list of its tools. */
interface ConnectedCall extends ToolRequest {
  server: LinkableServer;
  ownName: string | undefined;
}

const listing = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      title: z.string().optional(),
      description: z.string().default(''),
      inputSchema: z.record(z.string(), z.unknown()),
      outputSchema: z
        .looseObject({ type: z.literal('object') })
        .optional()
        .catch(undefined),
      annotations: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
});

/** A tool under its name in the router, with its name at its MCP server. */
interface OwnedTool {
  tool: ToolInfo;
  ownName: string;
}

/**
 * The tools of MCP servers that people link. They are listed for people with a link and called with the person's token. The tools' names
 * begin with the name of their server, so that none can replace another tool.
 */
export class LinkedTools implements PersonalTools {
  readonly #connections: PersonConnections;
  readonly #parts: ToolComponents;
  /** The tools that servers have for people, by person, server and version of the link. */
  readonly #lists = new LRUCache<string, readonly OwnedTool[]>({
    maxSize: keptBytes,
    sizeCalculation: (tools) => JSON.stringify(tools).length + 1,
    ttl: keptMs,
  });
  readonly #listing = new Map<string, Promise<readonly OwnedTool[]>>();

  /** Servers that have just failed to list their tools, with the same keys. */
  readonly #failed = new LRUCache<string, true>({ max: 10_000, ttl: keptFailureMs });

  constructor(connections: PersonConnections, parts: ToolComponents) {
    this.#connections = connections;
    this.#parts = parts;
  }

  /** Lists the tools of the servers that the caller's person has linked. Leaves out servers that do not answer. */
  async list(caller: Caller): Promise<ListedTool[]> {
    const { workers } = this.#parts;
    const { identity } = caller;
    const person = findPerson(identity);
    const reachable = this.#connections.servers().flatMap((server) => {
      const [placement] = lanesOf(server, workers.pools(), noWorkers);
      const [worker] = placement?.pool.workers ?? [];
      return worker ? [{ server, worker: worker.id }] : [];
    });
    if (person === undefined || reachable.length === 0) return [];
    const versions = await this.#connections.versionsOf(person).catch((error: unknown) => {
      // While Redis is unavailable, keys in use get only the shared tools.
      if (error instanceof RouterError) return new Map<string, string>();
      throw error;
    });
    const lists = await Promise.all(
      reachable.map(async ({ server, worker }): Promise<ListedTool[]> => {
        const version = versions.get(server.name);
        if (version === undefined) return [];
        const key = keyOf(person, server, version);
        if (this.#failed.has(key)) return [];
        const tools = await this.#toolsOf(server, key, caller).catch((error: unknown) => {
          if (!(error instanceof RouterError)) throw error;
          this.#failed.set(key, true);
          return [];
        });
        return tools.map(({ tool }) => ({ ...tool, worker }));
      }),
    );
    const { allows } = readToolPermits(identity);
    return lists.flat().filter((tool) => allows(tool) && !workers.isKnownTool(tool.name));
  }

  async find(tool: string, caller: Caller): Promise<ServeCall | undefined> {
    const [server] = this.#connections
      .servers()
      .filter(({ name }) => tool.startsWith(prefixOf(name)))
      .sort((a, b) => b.name.length - a.name.length);
    if (!server || this.#parts.workers.isKnownTool(tool)) return undefined;
    const { identity } = caller;
    const { name } = server;
    if (!readToolPermits(identity).allows({ name: tool, server: name })) throw toolDenied(tool);
    const person = findPerson(identity);
    if (person === undefined) throw this.#connections.required(name, 'no person');
    const version = (await this.#connections.versionsOf(person)).get(name);
    // The request for the token throws the error that explains what is wrong with the link.
    if (version === undefined) await this.#connections.tokenOf(person, server);
    const tools = await this.#toolsOf(server, keyOf(person, server, version ?? ''), caller);
    const found = tools.find((each) => hasToolName(each.tool, tool));
    if (found) return (request, sink, by) => this.#serve({ ...request, server, ownName: found.ownName }, sink, by);
    throw new RouterError('not_found', `The MCP server '${name}' has no tool '${tool}' for you.`, { param: 'tool' });
  }

  /**
   * Calls a tool with the token of the caller's person. If the server refuses that token, it has done nothing, and the call is repeated
   * once with a new token.
   * @returns the running call; undefined if the caller has left
   */
  async #serve(
    { server, ownName, ...request }: ConnectedCall,
    sink: JobSink,
    caller: Caller,
  ): Promise<RunningRequest | undefined> {
    const { name, url } = server;
    const person = findPerson(caller.identity);
    if (person === undefined) throw this.#connections.required(name, 'no person');
    const run = (token: string, to: JobSink, by: Caller): Promise<RunningRequest | undefined> => {
      const connection = { server: name, url, token, ...(ownName !== undefined && { tool: ownName }) };
      const place = (avoid: ReadonlySet<string>): Placement[] => lanesOf(server, this.#parts.workers.pools(), avoid);
      return runToolJob(this.#parts, { ...request, connection, findPlacements: place }, to, by);
    };
    const token = await this.#connections.tokenOf(person, server);
    const tried = new TokenRetry(sink, {
      again: async (to) => {
        const renewed = await this.#connections.tokenOf(person, server, token);
        return run(renewed, to, { ...originOf(caller), onLimitStatus: () => undefined, isGone: () => caller.isGone() });
      },
      finalError: () => this.#connections.required(name, 'expired'),
    });
    return tried.follow(await run(token, tried.first, caller));
  }

  /** Returns the tools that a server has for a person. Concurrent callers share one listing. */
  #toolsOf(server: LinkableServer, key: string, caller: Caller): Promise<readonly OwnedTool[]> {
    const kept = this.#lists.get(key);
    if (kept) return Promise.resolve(kept);
    let listing = this.#listing.get(key);
    if (!listing) {
      listing = this.#ask(server, caller)
        .then((tools) => {
          this.#lists.set(key, tools);
          return tools;
        })
        .finally(() => this.#listing.delete(key));
      this.#listing.set(key, listing);
    }
    return listing;
  }

  async #ask(server: LinkableServer, caller: Caller): Promise<readonly OwnedTool[]> {
    const tool = contentName(server.name);
    const body = Buffer.from(JSON.stringify({ tool, input: {} }));
    const reply = new ToolReply(undefined);
    const listCaller: Caller = { ...originOf(caller), onLimitStatus: () => undefined, isGone: () => false };
    await this.#serve({ tool, body, stream: false, server, ownName: undefined }, reply, listCaller);
    const { structured_content: content, content: contentBlocks } = await reply.result;
    const read = listing.safeParse(content);
    if (read.success) return named(server.name, read.data.tools);
    const [{ text = '' } = {}] = contentBlocks as { text?: string }[];
    throw new RouterError('upstream_failed', `The MCP server '${server.name}' does not list its tools. ${text}`.trim());
  }
}

/**
 * Returns the person who owns the key or is signed in; undefined for keys of teams, keys without an owner, and keys that others have
 * issued.
 */
function findPerson({ kind, ownerId, storesAs }: KeyIdentity): string | undefined {
  return kind === 'user' && storesAs === undefined ? ownerId : undefined;
}

function originOf({ requestId, identity, trace }: Caller): Pick<Caller, 'requestId' | 'identity' | 'trace'> {
  return { requestId, identity, trace };
}

function prefixOf(server: string): string {
  return `${server.replaceAll(/[^\w-]/g, '-')}_`;
}

/** Returns the pools whose workers reach a server of account links, most free slots first. */
function lanesOf({ name }: LinkableServer, pools: Iterable<LivePool>, avoid: ReadonlySet<string>): Placement[] {
  const model = contentName(name);
  return [...pools]
    .filter(
      (pool) =>
        pool.tier === 'tools' &&
        hasWorkerBesides(pool, avoid) &&
        pool.tools.some((tool) => tool.name === model && tool.passes?.length === 0),
    )
    .map((pool) => ({ pool, model }))
    .sort((a, b) => countFreeSlots(b.pool, b.model) - countFreeSlots(a.pool, a.model));
}

function named(server: string, tools: z.output<typeof listing>['tools']): OwnedTool[] {
  const byName = new Map(tools.map((tool) => [`${prefixOf(server)}${tool.name}`, tool]));
  const valid = assignValidNames([...byName.keys()]);
  return [...byName].map(([givenName, tool]): OwnedTool => {
    const name = valid.get(givenName) ?? givenName;
    return { ownName: tool.name, tool: { ...tool, name, server, ...(name !== givenName && { givenName }) } };
  });
}

function keyOf(person: string, { name, url }: LinkableServer, version: string): string {
  return JSON.stringify([person, name, url, version]);
}
