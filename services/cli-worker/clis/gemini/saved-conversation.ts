import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { GeminiTurn } from './gemini-request.ts';

export interface RecordedCall {
  name: string;
  args: JsonObject;
}

export interface RecordedAnswer {
  usage: Usage | undefined;
  calls: RecordedCall[];
}

/**
 * Id that Gemini CLI gives to a message about the date, the system and folders. Gemini CLI puts that message before the others, unless
 * the first message has this id.
 */
const contextId = createHash('sha256').update('environment-context').digest('hex').slice(0, 32);

/** Time of the saved session. If a session has several files, Gemini CLI loads the one with the latest time. */
const latestTime = '2100-01-01T00:00:00.000Z';

/**
 * A conversation in the form of a saved session that Gemini CLI loads. The conversation includes the last turn, so that the parts of each
 * turn reach the model unchanged, whatever text the turn begins with.
 */
export class SavedConversation {
  readonly sessionId = randomUUID();
  /**
   * Random text of a thought that serves as a marker. When Gemini CLI has shown the whole history, it shows the marker as a piece of its
   * own. It does not send the marker to the model. Clients' texts cannot contain it.
   */
  readonly endMarker = randomUUID();
  readonly #folder: string;
  readonly #ids = new Set<Json>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param folder folder in which Gemini CLI saves its sessions */
  static async create(folder: string, turns: readonly GeminiTurn[]): Promise<SavedConversation> {
    const conversation = new SavedConversation(folder);
    await writeFile(conversation.#file, conversation.#writeLines(turns), { mode: 0o600 });
    return conversation;
  }

  get #file(): string {
    return join(this.#folder, `session-2100-01-01T00-00-${this.sessionId.slice(0, 8)}.jsonl`);
  }

  #writeLines(turns: readonly GeminiTurn[]): string {
    // Gemini CLI would run a text that begins with a slash as a command. The marker before the text also prevents this.
    const thought = { text: '', thought: this.endMarker };
    const messages = [...turns, { role: 'user', parts: [] }].map(({ role, parts }, index): JsonObject => {
      const id = index === 0 ? contextId : randomUUID();
      this.#ids.add(id);
      const content = role === 'user' ? [thought, ...parts] : parts;
      return { id, timestamp: latestTime, type: role === 'user' ? 'user' : 'gemini', content };
    });
    const { sessionId } = this;
    const session = { sessionId, projectHash: sessionId, startTime: latestTime, lastUpdated: latestTime, kind: 'main' };
    return [session, ...messages].map((line) => `${JSON.stringify(line)}\n`).join('');
  }

  /** Returns whether a user's text that Gemini CLI shows is the marker at the end of the history. */
  isEndMarker(text: string): boolean {
    return text === `[Thought: ${this.endMarker}]`;
  }

  /** Reads Gemini CLI's record of the answer. A message that is recorded again replaces its earlier state. */
  async readAnswer(): Promise<RecordedAnswer> {
    const messagesById = new Map<Json, JsonObject>();
    for (const line of (await readFile(this.#file, 'utf8')).split('\n')) {
      const message: unknown = line === '' ? undefined : JSON.parse(line);
      if (!isJsonObject(message) || message['type'] !== 'gemini') continue;
      const { id = null } = message;
      if (!this.#ids.has(id)) messagesById.set(id, message);
    }
    const messages = [...messagesById.values()];
    return {
      usage: readTokens(messages.findLast(({ tokens }) => isJsonObject(tokens))?.['tokens']),
      calls: messages.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls : []).flatMap(toCalls)),
    };
  }

  /** Deletes the file of this session, and the file that Gemini CLI begins when it loads the session. */
  async delete(): Promise<void> {
    const names = await readdir(this.#folder);
    const sessionFiles = names.filter((name) => name.includes(this.sessionId.slice(0, 8)));
    await Promise.all(sessionFiles.map((name) => rm(join(this.#folder, name), { force: true })));
  }
}

function toCalls(call: Json): RecordedCall[] {
  if (!isJsonObject(call) || typeof call['name'] !== 'string') return [];
  return [{ name: call['name'], args: isJsonObject(call['args']) ? call['args'] : {} }];
}

/** Reads the token counts of the upstream's `usageMetadata`. Google's count of output tokens does not include thinking. */
function readTokens(tokens: Json | undefined): Usage | undefined {
  if (!isJsonObject(tokens)) return undefined;
  const count = (field: string): number => (typeof tokens[field] === 'number' ? tokens[field] : 0);
  const reasoningTokens = count('thoughts');
  return {
    promptTokens: count('input') + count('tool'),
    cachedTokens: count('cached'),
    cacheWriteTokens: 0,
    completionTokens: count('output') + reasoningTokens,
    reasoningTokens,
  };
}
