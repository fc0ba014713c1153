import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { GeminiTurn } from './gemini-request.ts';

/** A call of a tool, as Gemini CLI has noted it. */
export interface NotedCall {
  name: string;
  args: JsonObject;
}

/** What Gemini CLI has noted of an answer. */
export interface NotedAnswer {
  usage: Usage | undefined;
  calls: NotedCall[];
}

/** The id of the message with the date, the system and folders that Gemini CLI puts first, unless it finds one there. */
const contextId = createHash('sha256').update('environment-context').digest('hex').slice(0, 32);

/** Of several files of one session, Gemini CLI takes the one with the latest time. */
const latest = '2100-01-01T00:00:00.000Z';

/**
 * A conversation as a session that Gemini CLI has saved and loads. Its last turn is in it, too, so that each turn reaches the
 * model with its parts as they are, whatever it begins with.
 */
export class SavedConversation {
  readonly sessionId = randomUUID();
  /**
   * A thought that belongs to nobody, which Gemini CLI shows when it has shown the whole history, and does not send. Texts of clients
   * cannot have it.
   */
  readonly end = randomUUID();
  readonly #folder: string;
  readonly #ids = new Set<Json>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param folder that Gemini CLI keeps its sessions in */
  static async save(folder: string, turns: readonly GeminiTurn[]): Promise<SavedConversation> {
    const conversation = new SavedConversation(folder);
    await writeFile(conversation.#file, conversation.#lines(turns), { mode: 0o600 });
    return conversation;
  }

  get #file(): string {
    return join(this.#folder, `session-2100-01-01T00-00-${this.sessionId.slice(0, 8)}.jsonl`);
  }

  #lines(turns: readonly GeminiTurn[]): string {
    // It also keeps texts that begin with a slash from being taken for commands.
    const thought = { text: '', thought: this.end };
    const messages = [...turns, { role: 'user', parts: [] }].map(({ role, parts }, at): JsonObject => {
      const id = at === 0 ? contextId : randomUUID();
      this.#ids.add(id);
      const content = role === 'user' ? [thought, ...parts] : parts;
      return { id, timestamp: latest, type: role === 'user' ? 'user' : 'gemini', content };
    });
    const { sessionId } = this;
    const session = { sessionId, projectHash: sessionId, startTime: latest, lastUpdated: latest, kind: 'main' };
    return [session, ...messages].map((line) => `${JSON.stringify(line)}\n`).join('');
  }

  /** Whether this text of the user's, as it is shown, is the end of the history. */
  isEnd(text: string): boolean {
    return text === `[Thought: ${this.end}]`;
  }

  /** Reads what Gemini CLI has noted of the answer. A message that is noted again is its newest state. */
  async answer(): Promise<NotedAnswer> {
    const noted = new Map<Json, JsonObject>();
    for (const line of (await readFile(this.#file, 'utf8')).split('\n')) {
      const message: unknown = line === '' ? undefined : JSON.parse(line);
      if (!isJsonObject(message) || message['type'] !== 'gemini') continue;
      const { id = null } = message;
      if (!this.#ids.has(id)) noted.set(id, message);
    }
    const messages = [...noted.values()];
    return {
      usage: readTokens(messages.findLast(({ tokens }) => isJsonObject(tokens))?.['tokens']),
      calls: messages.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls : []).flatMap(callOf)),
    };
  }

  /** Removes its files: this one, and the one that Gemini CLI begins when it is told of a session. */
  async remove(): Promise<void> {
    const names = await readdir(this.#folder);
    const own = names.filter((name) => name.includes(this.sessionId.slice(0, 8)));
    await Promise.all(own.map((name) => rm(join(this.#folder, name), { force: true })));
  }
}

function callOf(call: Json): NotedCall[] {
  if (!isJsonObject(call) || typeof call['name'] !== 'string') return [];
  return [{ name: call['name'], args: isJsonObject(call['args']) ? call['args'] : {} }];
}

/** The counts of the upstream's `usageMetadata`, whose output has no thinking. */
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
