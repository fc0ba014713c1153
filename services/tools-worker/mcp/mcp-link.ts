import { setTimeout as sleep } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { SdkError, SdkErrorCode, type Client } from '@modelcontextprotocol/client';
import type { Logger } from '#shared/core/log.ts';
import type { ToolSource } from '../name-tools.ts';
import { connectClient, type McpConnection } from './connect-client.ts';
import type { McpServerEntry } from '#shared/registry/mcp-servers.ts';
import { McpTool } from './mcp-tool.ts';
import { ServerContent } from './server-content.ts';

/** Milliseconds between two listings of a server's tools. The listings also show whether the server still answers. */
const pollMs = 15_000;

/** Maximum milliseconds for one listing. */
const listMs = 10_000;

/** Milliseconds from a failure to the next try to connect. The wait doubles with each consecutive failure. */
const firstWaitMs = 250;
const maxWaitMs = 30_000;

/** Milliseconds that a connection must last so that the next failure counts as the first again. */
const stableMs = 60_000;

/**
 * The link to one MCP server. It connects again whenever the connection is lost. States: connecting → serving → waiting → connecting …. Any
 * state can change to closed. The link is `available` only in the state `serving`.
 */
export class McpLink implements ToolSource {
  readonly prefix: string;
  readonly server: string;
  /** Resolves when the first try to connect has succeeded or failed. */
  readonly firstTry: Promise<void>;
  readonly #entry: McpServerEntry;
  readonly #maxMessageBytes: number;
  readonly #onChange: () => void;
  readonly #listPauseMs: number;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #connectionLoop: Promise<void>;
  readonly #firstTryEnded = Promise.withResolvers<void>();
  /** Aborted to list the tools at once. */
  #wake = new AbortController();
  #tools: McpTool[] = [];
  #content: ServerContent | undefined;
  /** The last listing, as JSON. */
  #lastListing = '';
  #available = false;
  #failures = 0;

  /**
   * @param maxMessageBytes maximum bytes of one message from the server
   * @param listPauseMs milliseconds after a listing without another one, however often the server reports changes and calls fail
   */
  constructor(entry: McpServerEntry, log: Logger, maxMessageBytes: number, onChange: () => void, listPauseMs = 2_000) {
    this.#entry = entry;
    this.#log = log.child({ server: entry.name });
    this.#maxMessageBytes = maxMessageBytes;
    this.#onChange = onChange;
    this.#listPauseMs = listPauseMs;
    this.server = entry.name;
    this.prefix = this.server.replaceAll(/[^\w-]/g, '-');
    this.firstTry = this.#firstTryEnded.promise;
    this.#connectionLoop = this.#keepConnected();
  }

  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  get content(): ServerContent | undefined {
    return this.#content;
  }

  get available(): boolean {
    return this.#available;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connectionLoop;
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const reason = await this.#connectAndServe(signal).then(
        () => 'the connection was closed',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      this.#firstTryEnded.resolve();
      if (signal.aborted) return;
      this.#markUnavailable();
      this.#failures = performance.now() - startedAt > stableMs ? 1 : this.#failures + 1;
      // Warns after 1, 2, 4, 8 … consecutive failures.
      const level = Math.log2(this.#failures) % 1 === 0 ? 'warn' : 'debug';
      this.#log[level]({ reason, failures: this.#failures }, 'an MCP server is out of reach');
      await sleepUntilAborted(computeWaitMs(this.#failures), signal);
    }
  }

  async #connectAndServe(signal: AbortSignal): Promise<void> {
    const connection = await connectClient(this.#entry, {
      maxMessageBytes: this.#maxMessageBytes,
      onToolsChanged: () => this.#wake.abort(),
      onNoNotices: (reason) => {
        const warning =
          'an MCP server does not confirm that it reports changes of its tools: the tools are listed periodically instead';
        this.#log.warn({ reason: reason instanceof Error ? reason.message : String(reason), everyMs: pollMs }, warning);
      },
      signal,
    });
    try {
      await this.#list(connection.client, signal);
      this.#log.info({ tools: this.#tools.map(({ name }) => name) }, 'connected to an MCP server');
      this.#firstTryEnded.resolve();
      await this.#poll(connection, signal);
    } finally {
      await connection.close();
    }
  }

  /** Lists the tools periodically, and after a pause when the server reports a change or a call failed. */
  async #poll({ client, whenEnded }: McpConnection, signal: AbortSignal): Promise<void> {
    const connectionEnd = new AbortController();
    void whenEnded.then(() => connectionEnd.abort());
    const end = AbortSignal.any([signal, connectionEnd.signal]);
    let lateCount = 0;
    for (;;) {
      await sleepUntilAborted(this.#listPauseMs, end);
      await sleepUntilAborted(pollMs - this.#listPauseMs, AbortSignal.any([end, this.#wake.signal]));
      if (end.aborted) return;
      // A change that is reported from now on causes another listing.
      this.#wake = new AbortController();
      try {
        await this.#list(client, signal);
        lateCount = 0;
      } catch (error) {
        // A busy server may be late once, but not twice in a row.
        lateCount += 1;
        if (!isTimeout(error) || lateCount > 1) throw error;
      }
    }
  }

  async #list(client: Client, signal: AbortSignal): Promise<void> {
    const { tools } = await client.listTools(undefined, { cacheMode: 'refresh', timeout: listMs, signal });
    const listing = JSON.stringify(tools);
    if (this.#available && listing === this.#lastListing) return;
    this.#lastListing = listing;
    this.#tools = tools.map((tool) => new McpTool(tool, client, () => this.#wake.abort()));
    this.#content = new ServerContent(this.server, client, () => this.#wake.abort());
    this.#available = true;
    this.#onChange();
  }

  /** Marks the tools as unavailable. Does not remove them, so that no name changes. */
  #markUnavailable(): void {
    if (!this.#available) return;
    this.#available = false;
    this.#onChange();
  }
}

/**
 * Returns the wait in milliseconds, varied at random by up to a quarter, so that many workers do not connect to one server at once.
 */
function computeWaitMs(failures: number): number {
  return Math.min(firstWaitMs * 2 ** (failures - 1), maxWaitMs) * (0.75 + Math.random() / 2);
}

async function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}

function isTimeout(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

/** Adds the availability of a worker's MCP servers to the worker's metrics. */
export function addServerMetrics(
  registry: Registry,
  servers: () => Iterable<Pick<McpLink, 'prefix' | 'available'>>,
): void {
  const up: Gauge<'server'> = new Gauge({
    name: 'rtr_mcp_server_up',
    help: 'Whether an MCP server of a tools worker can be used: 1 or 0',
    labelNames: ['server'],
    registers: [registry],
    collect: () => {
      for (const { prefix, available } of servers()) up.set({ server: prefix }, available ? 1 : 0);
    },
  });
}
