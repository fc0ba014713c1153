import { randomUUID } from 'node:crypto';
import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { CliProcess } from '../../process/cli-process.ts';
import { JsonRpcPeer } from '../../process/json-rpc-peer.ts';
import type { AnswerPart, CliSession, TextPart } from '../cli.ts';
import type { ListedTool, ToolListServer } from '../tool-list-server.ts';
import type { Outcome } from '../../answer/dialogue.ts';
import { mapGeminiError, readGeminiOutcome } from './gemini-outcome.ts';
import { toolPrefix, serverName, type GeminiRequest } from './gemini-request.ts';
import { SavedConversation, type RecordedCall } from './saved-conversation.ts';

export interface GeminiSessionOptions {
  /** The file from which Gemini CLI reads the system prompt of each session. */
  systemFile: string;
  /** Gemini CLI's own folder, with a folder for each project in `tmp`. */
  home: string;
  cwd: string;
  startModel: string;
  tools: ToolListServer;
}

/** System prompt for a request without one. Gemini CLI would replace an empty prompt with instructions of its own. */
const defaultSystemPrompt = 'You are a helpful assistant.';

interface CurrentConversation {
  conversation: SavedConversation;
  onPart: (part: AnswerPart) => void;
  /** Called when Gemini CLI has shown the whole history. Everything that it shows afterwards is the answer. */
  onHistory: () => void;
  isAnswering: boolean;
}

/**
 * Holds conversations with one Gemini CLI process, each in its own session that the process loads. Ignores updates about other sessions.
 */
export class GeminiSession implements CliSession<GeminiRequest, AnswerPart> {
  readonly process: CliProcess;
  readonly #options: GeminiSessionOptions;
  readonly #peer: JsonRpcPeer;
  /** The folder in which Gemini CLI saves sessions. */
  #savesFolder = '';
  #current: CurrentConversation | undefined;

  constructor(process: CliProcess, options: GeminiSessionOptions) {
    this.process = process;
    this.#options = options;
    this.#peer = new JsonRpcPeer(
      process,
      (method, params) => {
        if (method === 'session/update') this.#onUpdate(params);
      },
      refuseRequest,
    );
  }

  /** Initializes the agent and starts a first session, which takes ten times as long as later sessions. */
  async initialize(): Promise<void> {
    const { systemFile, home, cwd } = this.#options;
    await this.#request('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    await writeFile(systemFile, defaultSystemPrompt, { mode: 0o600 });
    await this.#request('session/new', { cwd, mcpServers: [] });
    this.#savesFolder = await findSavesFolder(join(home, 'tmp'));
  }

  async converse(request: GeminiRequest, onPart: (part: AnswerPart) => void, signal: AbortSignal): Promise<Outcome> {
    signal.throwIfAborted();
    const { model, system, turns } = request;
    const { systemFile, startModel } = this.#options;
    await writeFile(systemFile, system === '' ? defaultSystemPrompt : system, { mode: 0o600 });
    const conversation = await SavedConversation.create(this.#savesFolder, turns);
    const { sessionId } = conversation;
    const cancel = (): void => this.#peer.notify('session/cancel', { sessionId });
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await this.#loadConversation(conversation, request, onPart, signal);
      if (model !== startModel) await this.#request('session/set_model', { sessionId, modelId: model });
      signal.throwIfAborted();
      // The last turn is already in the history, exactly as the client sent it.
      const result = await this.#request('session/prompt', { sessionId, prompt: [{ type: 'text', text: '' }] });
      const recordedAnswer = await conversation.readAnswer();
      const calls = toCalls(recordedAnswer.calls, request);
      for (const call of calls) onPart(call);
      return readGeminiOutcome(result, { ...recordedAnswer, calls: recordedAnswer.calls.slice(0, calls.length) });
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#current = undefined;
      await conversation.delete();
    }
  }

  /**
   * Makes Gemini CLI load a conversation. Resolves when Gemini CLI has shown the whole history, which may be after its answer to the
   * request.
   */
  async #loadConversation(
    conversation: SavedConversation,
    { tools: listed }: GeminiRequest,
    onPart: (part: AnswerPart) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { cwd, tools } = this.#options;
    const { promise: historyShown, resolve: onHistory, reject } = Promise.withResolvers<void>();
    this.#current = { conversation, onPart, onHistory, isAnswering: false };
    tools.tools = listed;
    const mcpServers = listed.length > 0 ? [describeServer(tools)] : [];
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await Promise.race([
        Promise.all([
          this.#request('session/load', { sessionId: conversation.sessionId, cwd, mcpServers }),
          historyShown,
        ]),
        this.#rejectWhenProcessEnds(),
      ]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #rejectWhenProcessEnds(): Promise<never> {
    throw await this.process.waitForFailure();
  }

  async #request(method: string, params: JsonObject): Promise<JsonObject> {
    return this.#peer.request(method, params).catch((error: unknown) => {
      throw mapGeminiError(method, error);
    });
  }

  #onUpdate({ sessionId, update }: JsonObject): void {
    const current = this.#current;
    if (!current || sessionId !== current.conversation.sessionId || !isJsonObject(update)) return;
    const { sessionUpdate, content } = update;
    const text = isJsonObject(content) && typeof content['text'] === 'string' ? content['text'] : '';
    if (!current.isAnswering) {
      current.isAnswering = sessionUpdate === 'user_message_chunk' && current.conversation.isEndMarker(text);
      if (current.isAnswering) current.onHistory();
      return;
    }
    const kind = typeof sessionUpdate === 'string' ? kindsByUpdate[sessionUpdate] : undefined;
    if (kind !== undefined && text !== '') current.onPart({ kind, text });
  }
}

/** Kinds of pieces, by the names of the updates that contain the pieces. */
const kindsByUpdate: Readonly<Record<string, TextPart['kind'] | undefined>> = {
  agent_message_chunk: 'text',
  agent_thought_chunk: 'thinking',
};

/** Returns the recorded calls of the client's tools, under the client's names. */
function toCalls(
  recordedCalls: readonly RecordedCall[],
  { tools, toolNames, parallelCalls }: GeminiRequest,
): AnswerPart[] {
  const calls = recordedCalls.flatMap(({ name: listedName, args }) => {
    const name = toolNames.get(listedName);
    if (name === undefined) return [];
    const tool = tools.find((each) => toolPrefix + each.name === listedName);
    return [{ name, arguments: JSON.stringify(hasOrderProperty(tool) ? args : removeOrderProperty(args)) }];
  });
  const keptCalls = parallelCalls ? calls : calls.slice(0, 1);
  return keptCalls.map((call, index) => ({
    kind: 'call',
    index,
    id: `call_${randomUUID().replaceAll('-', '')}`,
    ...call,
  }));
}

/** The property that Gemini CLI adds to the parameters of every tool, to run calls one after the other. */
const orderProperty = 'wait_for_previous';

/** Returns whether the client's tool itself has a parameter with this name. */
function hasOrderProperty(tool: ListedTool | undefined): boolean {
  const properties = tool?.inputSchema['properties'];
  return isJsonObject(properties) && Object.hasOwn(properties, orderProperty);
}

function removeOrderProperty(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([name]) => name !== orderProperty));
}

/**
 * Returns the folder in which Gemini CLI has just saved a session.
 * @param projects Gemini CLI's folder with a folder for each project
 * @throws RouterError `upstream_failed` if Gemini CLI saves no session
 */
async function findSavesFolder(projects: string): Promise<string> {
  const names = await readdir(projects).catch((): string[] => []);
  for (const name of names) {
    const folder = join(projects, name, 'chats');
    if (
      await stat(folder)
        .then((found) => found.isDirectory())
        .catch(() => false)
    )
      return folder;
  }
  throw new RouterError('upstream_failed', 'This version of Gemini CLI saves no conversations.');
}

/** Refuses permissions and every other request that needs a person. */
function refuseRequest(method: string): JsonObject | undefined {
  return method === 'session/request_permission' ? { outcome: { outcome: 'cancelled' } } : undefined;
}

/** Describes the server as the Agent Client Protocol does (`session/load`, `mcpServers`). */
function describeServer({ url, authorization }: ToolListServer): JsonObject {
  return { type: 'http', name: serverName, url, headers: [{ name: 'authorization', value: authorization }] };
}
