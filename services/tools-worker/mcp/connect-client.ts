import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  StreamableHTTPClientTransport,
  type jsonSchemaValidator,
  type JsonSchemaValidator,
} from '@modelcontextprotocol/client';
import { version } from '#shared/core/version.ts';
import { createBoundedFetch } from './bounded-fetch.ts';
import type { McpServerEntry } from '#shared/registry/mcp-servers.ts';
import { ProcessTransport } from './process-transport.ts';
import { refusalText } from './refusal-text.ts';

/** Milliseconds for a server to start and shake hands. `npx` may have to download it first. */
const connectMs = 60_000;

/** Milliseconds for a server to answer which revision it speaks. Older servers may not answer. */
const probeMs = 5_000;

/** Milliseconds to end a server's session. */
const endSessionMs = 1_000;

/** Validates nothing. */
const passing: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

export interface ConnectOptions {
  /** Bytes of one message from the server. */
  maxMessageBytes: number;
  /**
   * Whether to ask which revision of the protocol the server speaks. Otherwise the handshake of the older revisions comes
   * first, because some older servers end when they are asked.
   */
  negotiate: boolean;
  onToolsChanged: () => void;
  signal: AbortSignal;
  /** Called with the status of every answer of a server that is reached over HTTP. */
  onStatus?: (status: number) => void;
}

/** A connection to an MCP server. */
export interface McpConnection {
  client: Client;
  /** Settles when the connection is over. */
  ended: Promise<void>;
  /** Ends the connection, and a local server's process. Settles within seconds. */
  close: () => Promise<void>;
}

/** Connects to an MCP server. @throws Error with the reason and what the server wrote to standard error */
export async function connectClient(entry: McpServerEntry, options: ConnectOptions): Promise<McpConnection> {
  const { maxMessageBytes, negotiate, onToolsChanged, signal, onStatus } = options;
  const client = new Client(
    { name: 'model-router', version },
    {
      versionNegotiation: { mode: negotiate ? 'auto' : 'legacy', probe: { timeoutMs: probeMs } },
      // Its own blocks this process for as long as a server's schema takes: see `McpTool`.
      jsonSchemaValidator: passing,
      listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
    },
  );
  client.fallbackRequestHandler = ({ method }) =>
    Promise.reject(new ProtocolError(ProtocolErrorCode.MethodNotFound, refusalText(method)));
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  // The client is no EventTarget.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  client.onclose = resolve;
  const transport = createTransport(entry, maxMessageBytes, onStatus);
  const close = async (): Promise<void> => {
    if (transport instanceof StreamableHTTPClientTransport) await endSession(transport);
    await client.close();
    // A client that was never connected does not close its transport.
    await transport.close();
  };
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    // The client ignores its signal until it knows which revision the server speaks.
    await Promise.race([client.connect(transport, { timeout: connectMs }), aborted]);
  } catch (error) {
    await close();
    const stderr = transport instanceof ProcessTransport ? transport.stderr.trim() : '';
    throw new Error(stderr === '' ? describe(error) : `${describe(error)}; it wrote: ${stderr}`, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  if (transport instanceof ProcessTransport) transport.dropStderr();
  return { client, ended, close };
}

function createTransport(
  entry: McpServerEntry,
  maxMessageBytes: number,
  onStatus: ConnectOptions['onStatus'] = () => undefined,
) {
  if (entry.kind === 'stdio') {
    const { command, args, env, cwd } = entry.server;
    return new ProcessTransport({ command, args, env, cwd, maxMessageBytes });
  }
  const { url, headers } = entry.server;
  const boundedFetch = createBoundedFetch(maxMessageBytes);
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: async (asked, init) => {
      const answer = await boundedFetch(asked, init);
      onStatus(answer.status);
      return answer;
    },
  });
}

async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  if (transport.sessionId === undefined) return;
  const timer = Promise.withResolvers<void>();
  const timeout = setTimeout(timer.resolve, endSessionMs);
  // The server may be gone.
  await Promise.race([transport.terminateSession().catch(() => undefined), timer.promise]);
  clearTimeout(timeout);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
