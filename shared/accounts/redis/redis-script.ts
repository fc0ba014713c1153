import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { storeUnavailable } from './call-redis.ts';
import { gatherWrites } from './gather-writes.ts';

export const scriptStart = new URL('lua/script-start.lua', import.meta.url);
export const removedPlacesScript = new URL('lua/removed-places.lua', import.meta.url);

export interface ScriptInput {
  keys?: readonly string[];
  /**
   * The named arguments. They are sent as one JSON object, without undefined arguments. The script reads the object by
   * `cjson.decode(ARGV[1])`.
   */
  args: Readonly<Record<string, unknown>>;
  /** Texts that are sent unchanged, as ARGV[2] and so on. */
  texts?: readonly string[];
}

/**
 * A Lua script that Redis runs as one atomic operation. Its text is sent once, and then only its digest. Runs on one connection are
 * executed in order, unless Redis was restarted and needs a text again.
 */
export class RedisScript {
  readonly #text: string;
  readonly #digest: string;
  #isSent = false;

  /** @param files the files whose texts, one after the other, are the script */
  constructor(...files: readonly URL[]) {
    this.#text = files.map((file) => readFileSync(file, 'utf8')).join('\n');
    this.#digest = createHash('sha1').update(this.#text).digest('hex');
  }

  /**
   * Runs the script and returns its reply.
   * @throws RouterError `store_unavailable`; Redis may have run the script all the same
   */
  async run(redis: Redis, { keys = [], args, texts = [] }: ScriptInput): Promise<unknown> {
    const argv = [...keys, replaceLoneSurrogates(JSON.stringify(args)), ...texts];
    gatherWrites(redis);
    try {
      if (this.#isSent) return await redis.evalsha(this.#digest, keys.length, ...argv);
    } catch (error) {
      if (!isUnknownScript(error)) throw storeUnavailable(error);
    }
    this.#isSent = true;
    try {
      return await redis.eval(this.#text, keys.length, ...argv);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
}

/**
 * Replaces halves of surrogate pairs in JSON, because `cjson` refuses to read them. Otherwise, a script that writes the input of many
 * clients would fail for all of them, however often it is tried again.
 */
function replaceLoneSurrogates(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replace(/\\(?:ud[89a-f][\da-f]{2}|.)/g, (escape) => (escape.length === 6 ? '\ufffd' : escape));
}

/** Returns whether Redis lacks the script, because it was restarted. In this case Redis has executed nothing. */
function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
