import pLimit from 'p-limit';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { hasToolName } from '#shared/broker/contract/announcement.ts';
import { contentName } from '#shared/broker/contract/server-content.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import {
  countFreeSlots,
  hasWorkerBesides,
  noWorkers,
  type Placement,
} from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { RouterError } from '#shared/core/errors.ts';
import { createToolPrefix } from '#shared/core/valid-names.ts';
import { pickOrigin, type Caller } from '../caller.ts';
import type { ListedTool } from '../list-tools.ts';
import type { RunningRequest } from '../run-job.ts';
import { runToolJob, type ToolComponents } from '../serve-tool.ts';
import { createToolDeniedError, readToolPermits } from '../tool-permits.ts';
import type { PersonalTools, ServeCall, ToolRequest } from './personal-tools.ts';
import { TokenRetry } from './token-retry.ts';
import { isLimitError, LinkedToolLists, type LinkableServer } from './linked-tool-lists.ts';

/** Milliseconds for which `list` waits for all servers together. */
const listMs = 10_000;

export interface PersonAccountLinks {
  servers(): readonly LinkableServer[];
  /** Returns a version for each MCP server that the person has linked. The version changes when the person links the server again. */
  readVersions(person: string): Promise<ReadonlyMap<string, string>>;
  /**
   * @param refused a token that the server has just refused
   * @throws RouterError `connection_required`, `upstream_failed`
   */
  findToken(person: string, server: LinkableServer, refused?: string): Promise<string>;
  /** Builds the error for a caller who cannot call a tool without a link to its MCP server. */
  toRequiredError(server: string, why: 'no person' | 'none' | 'expired'): RouterError;
}

/** A call of a server's tool. If `nameAtServer` is undefined, the call lists the server's tools. */
interface LinkedToolCall extends ToolRequest {
  server: LinkableServer;
  nameAtServer: string | undefined;
}

/**
 * The tools of MCP servers that people link. These tools are listed only for people with a link, and are called with the person's token.
 * The name of each tool begins with the name of its server, so that no server can replace a tool of another server.
 */
export class LinkedTools implements PersonalTools {
  readonly #accountLinks: PersonAccountLinks;
  readonly #parts: ToolComponents;
  readonly #lists = new LinkedToolLists((server, request, sink, caller) =>
    this.#serve({ ...request, server, nameAtServer: undefined }, sink, caller),
  );

  constructor(accountLinks: PersonAccountLinks, parts: ToolComponents) {
    this.#accountLinks = accountLinks;
    this.#parts = parts;
  }

  /**
   * Lists the tools of the servers that the caller's person has linked. Leaves out servers that do not answer within `listMs`. If a limit
   * of the key refuses to ask several servers at once, the list asks one after the other.
   * @throws RouterError if the limit refuses even one at a time, because clients would keep a list without the tools of a server
   */
  async list(caller: Caller): Promise<ListedTool[]> {
    const { workers } = this.#parts;
    const { identity } = caller;
    const person = findPerson(identity);
    const reachableServers = this.#accountLinks.servers().flatMap((server) => {
      const [placement] = findPlacements(server, workers.pools(), noWorkers);
      const [worker] = placement?.pool.workers ?? [];
      return worker ? [{ server, worker: worker.id }] : [];
    });
    if (person === undefined || reachableServers.length === 0) return [];
    const versions = await this.#accountLinks.readVersions(person).catch((error: unknown) => {
      // While Redis is unavailable, the list contains only the shared tools.
      if (error instanceof RouterError) return new Map<string, string>();
      throw error;
    });
    const turns = pLimit(countListings(identity, reachableServers.length));
    const deadline = Promise.withResolvers<undefined>();
    const listOne = async ({
      server,
      worker,
    }: (typeof reachableServers)[number]): Promise<ListedTool[] | 'refused'> => {
      const isAlone = turns.concurrency === 1;
      const version = versions.get(server.name);
      if (version === undefined) return [];
      const link = { person, server, version };
      if (this.#lists.hasFailed(link, caller)) return [];
      const listing = this.#lists.find(link, caller).catch((error: unknown) => {
        if (error instanceof RouterError && !isLimitError(error)) return undefined;
        if (error instanceof RouterError && !isAlone) return 'refused' as const;
        turns.clearQueue();
        throw error;
      });
      const tools = await Promise.race([listing, deadline.promise]);
      if (tools === 'refused') {
        turns.concurrency = 1;
        return tools;
      }
      if (!tools) this.#lists.noteFailure(link, caller);
      return tools?.map(({ tool }) => ({ ...tool, worker })) ?? [];
    };
    const listInTurn = async (each: (typeof reachableServers)[number]): Promise<ListedTool[]> => {
      const list = await turns(() => listOne(each));
      return list === 'refused' ? listInTurn(each) : list;
    };
    const timer = setTimeout(deadline.resolve, listMs, undefined);
    try {
      const lists = await Promise.all(
        reachableServers.map((each) => Promise.race([listInTurn(each), deadline.promise])),
      );
      const { allows } = readToolPermits(identity);
      return lists.flatMap((list) => list ?? []).filter((tool) => allows(tool) && !workers.isKnownTool(tool.name));
    } finally {
      clearTimeout(timer);
      turns.clearQueue();
    }
  }

  async find(tool: string, caller: Caller): Promise<ServeCall | undefined> {
    const [server] = this.#accountLinks
      .servers()
      .filter(({ name }) => tool.startsWith(createToolPrefix(name)))
      .sort((a, b) => b.name.length - a.name.length);
    if (!server || this.#parts.workers.isKnownTool(tool)) return undefined;
    const { identity } = caller;
    const { name } = server;
    if (!readToolPermits(identity).allows({ name: tool, server: name })) throw createToolDeniedError(tool);
    const person = findPerson(identity);
    if (person === undefined) throw this.#accountLinks.toRequiredError(name, 'no person');
    const version = (await this.#accountLinks.readVersions(person)).get(name);
    // `findToken` throws the error that explains what is wrong with the link.
    if (version === undefined) await this.#accountLinks.findToken(person, server);
    const tools = await this.#lists.find({ person, server, version: version ?? '' }, caller);
    const linkedTool = tools.find((each) => hasToolName(each.tool, tool));
    if (linkedTool)
      return (request, sink, toolCaller) =>
        this.#serve({ ...request, server, nameAtServer: linkedTool.nameAtServer }, sink, toolCaller);
    throw new RouterError('not_found', `The MCP server '${name}' has no tool '${tool}' for you.`, { param: 'tool' });
  }

  /**
   * Calls a tool with the token of the caller's person. If the server refuses the token, the call has had no effect, and is repeated once
   * with a new token.
   * @returns the running call; undefined if the caller has left
   */
  async #serve(
    { server, nameAtServer, ...request }: LinkedToolCall,
    sink: JobSink,
    caller: Caller,
  ): Promise<RunningRequest | undefined> {
    const { name, url } = server;
    const person = findPerson(caller.identity);
    if (person === undefined) throw this.#accountLinks.toRequiredError(name, 'no person');
    const run = (token: string, callSink: JobSink, callCaller: Caller): Promise<RunningRequest | undefined> => {
      const connection = { server: name, url, token, ...(nameAtServer !== undefined && { tool: nameAtServer }) };
      const findServerPlacements = (avoid: ReadonlySet<string>): Placement[] =>
        findPlacements(server, this.#parts.workers.pools(), avoid);
      return runToolJob(
        this.#parts,
        { ...request, connection, findPlacements: findServerPlacements },
        callSink,
        callCaller,
      );
    };
    const token = await this.#accountLinks.findToken(person, server);
    const retry = new TokenRetry(sink, {
      repeat: async (secondSink) => {
        const newToken = await this.#accountLinks.findToken(person, server, token);
        return run(newToken, secondSink, { ...pickOrigin(caller), isGone: () => caller.isGone() });
      },
      finalError: () => this.#accountLinks.toRequiredError(name, 'expired'),
    });
    return retry.follow(await run(token, retry.firstSink, caller));
  }
}

/**
 * Returns how many servers may be asked at once. Each listing takes a place among the concurrent requests of a limited key, so that half of
 * the places stay free for other requests, which would otherwise make a limit refuse the list.
 */
function countListings({ limits }: KeyIdentity, servers: number): number {
  const places = Math.min(...limits.map((party) => party.limits.concurrentRequests ?? Infinity));
  return Math.min(Math.max(1, Math.floor(places / 2)), servers);
}

/**
 * Returns the person who owns the key or is signed in. Returns undefined for a key of a team, a key without an owner, and a key that others
 * have issued.
 */
function findPerson({ kind, ownerId, storesAs }: KeyIdentity): string | undefined {
  return kind === 'user' && storesAs === undefined ? ownerId : undefined;
}

/** Returns the pools with workers that reach an MCP server, in descending order of free slots. */
function findPlacements({ name }: LinkableServer, pools: Iterable<LivePool>, avoid: ReadonlySet<string>): Placement[] {
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
