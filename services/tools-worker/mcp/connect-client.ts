import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
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

/** Milliseconds for a server to confirm that it will say when its tools change. */
const confirmMs = 10_000;

/** Milliseconds for which a server's notices of changed tools are gathered. */
const gatherMs = 300;

/** Validates nothing. */
const passing: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

export interface ConnectOptions {
  /** Bytes of one message from the server. */
  maxMessageBytes: number;
  /** Called when the server says that its tools have changed; undefined if nobody needs to know. */
  onToolsChanged?: () => void;
  /** Called when a server of the newest revision that could say so does not confirm that it will. */
  onNoNotices?: (reason: unknown) => void;
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

/**
 * Connects to an MCP server, in the newest revision of the protocol that both speak. Some older servers end, or fail, when they are asked
 * which one that is. They are told from those that were only not ready yet by asking once more when the older handshake has worked.
 * @throws Error with the reason and what the server wrote to standard error
 */
export async function connectClient(entry: McpServerEntry, options: ConnectOptions): Promise<McpConnection> {
  try {
    return await connectAs('auto', entry, options);
  } catch (error) {
    if (!isUnaskable(error)) throw error;
  }
  const older = await connectAs('legacy', entry, options);
  const newer = await connectAs('auto', entry, options).catch(() => undefined);
  if (!newer) return older;
  await older.close();
  return newer;
}

/** Whether a server may have failed because it was asked for its revision. */
function isUnaskable(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return (
    cause instanceof SdkError &&
    (cause.code === SdkErrorCode.EraNegotiationFailed || cause.code === SdkErrorCode.RequestTimeout)
  );
}

/** @param mode `auto` asks for the revision first, `legacy` begins with the handshake of the older ones */
async function connectAs(
  mode: 'auto' | 'legacy',
  entry: McpServerEntry,
  { maxMessageBytes, onToolsChanged, onNoNotices, signal, onStatus }: ConnectOptions,
): Promise<McpConnection> {
  const client = new Client(
    { name: 'model-router', version },
    {
      versionNegotiation: { mode, probe: { timeoutMs: probeMs } },
      // Its own blocks this process for as long as a server's schema takes: see `McpTool`.
      jsonSchemaValidator: passing,
    },
  );
  if (onToolsChanged) client.setNotificationHandler('notifications/tools/list_changed', gathering(onToolsChanged));
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
  const isHeard = onToolsChanged && client.getServerCapabilities()?.tools?.listChanged === true;
  if (isHeard && client.getProtocolEra() === 'modern') askForNotices(client, onNoNotices);
  return { client, ended, close };
}

/** Servers of older revisions give notices unasked. The connection does not wait for the confirmation, which some servers never give. */
function askForNotices(client: Client, onNoNotices: ConnectOptions['onNoNotices']): void {
  client.listen({ toolsListChanged: true }, { timeout: confirmMs }).catch((error: unknown) => {
    // Without a transport, the connection is over.
    if (client.transport) onNoNotices?.(error);
  });
}

function gathering(call: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      call();
    }, gatherMs);
  };
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
