import { setTimeout as sleep } from 'node:timers/promises';
import { SdkError, SdkErrorCode, type Client } from '@modelcontextprotocol/client';
import type { Logger } from '#shared/core/log.ts';
import type { ToolSource } from '../name-tools.ts';
import { connectClient, type McpConnection } from './connect-client.ts';
import type { McpServerEntry } from './mcp-config.ts';
import { McpTool } from './mcp-tool.ts';

export interface McpLinkOptions {
  entry: McpServerEntry;
  log: Logger;
  /** Bytes of one message from the server. */
  maxMessageBytes: number;
  /** Called when its tools are others than before, or can be run again, or no longer. */
  onChange: () => void;
}

/** Milliseconds between two looks at a server that says nothing: over HTTP nobody notices when one is gone. */
const lookMs = 15_000;
const listMs = 10_000;

/** Milliseconds before a lost server is connected to again: doubled each time, up to the longest. */
const firstWaitMs = 250;
const longestWaitMs = 30_000;

/** A connection that lasted so many milliseconds was a good one: the next wait begins anew. */
const goodMs = 60_000;

/**
 * The link to one MCP server, made again whenever it is lost.
 * States: connecting → serving → waiting → connecting …, from each of them → closed. Only `serving` is `available`.
 */
export class McpLink implements ToolSource {
  readonly prefix: string;
  /** Settles when the first try to connect is over, however it went. */
  readonly firstTry: Promise<void>;
  readonly #options: McpLinkOptions;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  readonly #tried = Promise.withResolvers<void>();
  /** Aborts to end the wait for the next look. */
  #rest = new AbortController();
  #tools: McpTool[] = [];
  /** What the server last said of its tools. */
  #listed = '';
  #available = false;
  #failures = 0;

  constructor(options: McpLinkOptions) {
    this.#options = options;
    this.#log = options.log.child({ server: options.entry.name });
    this.prefix = options.entry.name.replaceAll(/[^\w-]/g, '-');
    this.firstTry = this.#tried.promise;
    this.#running = this.#keepConnected();
  }

  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  get available(): boolean {
    return this.#available;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const startedAt = performance.now();
      const reason = await this.#connectAndServe(signal).then(
        () => 'the connection was closed',
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      this.#tried.resolve();
      if (signal.aborted) return;
      this.#lose();
      this.#failures = performance.now() - startedAt > goodMs ? 1 : this.#failures + 1;
      // Told ever more seldom: after 1, 2, 4, 8 … failures in a row.
      const level = Math.log2(this.#failures) % 1 === 0 ? 'warn' : 'debug';
      this.#log[level]({ reason, failures: this.#failures }, 'an MCP server is out of reach');
      await sleep(waitMs(this.#failures), undefined, { signal }).catch(() => undefined);
    }
  }

  async #connectAndServe(signal: AbortSignal): Promise<void> {
    const { entry, maxMessageBytes } = this.#options;
    const connection = await connectClient(entry, {
      maxMessageBytes,
      // Every second try does without the question that some servers cannot bear.
      negotiate: this.#failures % 2 === 0,
      onToolsChanged: () => this.#rest.abort(),
      signal,
    });
    try {
      await this.#list(connection.client, signal);
      this.#log.info({ tools: this.#tools.map(({ name }) => name) }, 'connected to an MCP server');
      this.#tried.resolve();
      await this.#follow(connection, signal);
    } finally {
      await connection.close();
    }
  }

  /** Looks at the server from time to time, and at once when it says that its tools changed or a call failed. */
  async #follow({ client, ended }: McpConnection, signal: AbortSignal): Promise<void> {
    let over = false;
    let late = 0;
    const onEnd = ended.then(() => {
      over = true;
    });
    for (;;) {
      const wake = AbortSignal.any([signal, this.#rest.signal]);
      await Promise.race([sleep(lookMs, undefined, { signal: wake }).catch(() => undefined), onEnd]);
      // Ends the wait where the connection's end came first; what changes from here on is for the next look.
      this.#rest.abort();
      this.#rest = new AbortController();
      if (over || signal.aborted) return;
      try {
        await this.#list(client, signal);
        late = 0;
      } catch (error) {
        // A server that works hard may be late, once.
        late += 1;
        if (!isLate(error) || late > 1) throw error;
      }
    }
  }

  async #list(client: Client, signal: AbortSignal): Promise<void> {
    const { tools } = await client.listTools(undefined, { cacheMode: 'refresh', timeout: listMs, signal });
    const listed = JSON.stringify(tools);
    if (this.#available && listed === this.#listed) return;
    this.#listed = listed;
    this.#tools = tools.map((tool) => new McpTool(tool, client, () => this.#rest.abort()));
    this.#available = true;
    this.#options.onChange();
  }

  /** The tools stay known, so that nobody's name changes, but cannot be run. */
  #lose(): void {
    if (!this.#available) return;
    this.#available = false;
    this.#options.onChange();
  }
}

/** With a random part, so that many workers do not come back to one server at once. */
function waitMs(failures: number): number {
  return Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs) * (0.75 + Math.random() / 2);
}

function isLate(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}
